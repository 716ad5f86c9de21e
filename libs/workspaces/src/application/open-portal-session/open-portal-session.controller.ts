import { Body, Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { CONFIG } from '#platform/tokens.js';
import { OpenPortal, portalUrl, type PortalAddress } from '../../contracts/portal.js';
import { openedSessionSchema, type OpenedPortalSession } from '../../http/portal-session.schemas.js';
import { OpenPortalSessionDto } from './open-portal-session.body.js';

/** Lets a person into the workspace portal. */
@Controller('api/v1/portal/sessions')
@Accepts({ apiKey: 'portal:write' })
@ApiTags('Portal')
export class OpenPortalSessionController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(CONFIG) private readonly config: PortalAddress,
  ) {}

  @Post()
  @HttpCode(201)
  @ShownOnce('url')
  @ApiOperation({
    operationId: 'openPortalSession',
    summary: 'Open a session of the workspace portal',
    description:
      'The answer has a URL that lets one browser in, once, within 60 seconds. The session may do no more than the key, sees its mode, and ends with it. Only this answer shows the URL.',
  })
  @Answers(201, 'The session', openedSessionSchema)
  @Refuses('not_found')
  async open(
    @Body() body: OpenPortalSessionDto,
    @Caller() caller: Principal,
    @Req() request: Request,
  ): Promise<OpenedPortalSession> {
    if (!this.config.PORTAL) throw new Problem('not_found', { detail: 'This service has no portal' });
    if (caller.authMode === 'session')
      throw new Problem('auth_mode_not_allowed', { detail: 'A session of the portal opens no other' });
    const { language, timeZone, returnUrl = null, ttlSeconds } = body;
    const scopes = [...new Set(body.scopes)];
    requireOwn(scopes, caller);
    const opened = await this.commands.execute(
      new OpenPortal(
        caller.workspaceId,
        { scopes, modes: [caller.mode], language, timeZone, returnUrl, ttlSeconds },
        caller.actor.slice('apiKey:'.length),
        caller.actor,
      ),
    );
    if (!opened) throw tooManyOpen();
    const { sessionId, token, linkExpiresAt } = opened;
    return {
      sessionId,
      url: portalUrl(this.config, request.socket.localPort, `/enter/${token}`),
      urlExpiresAt: linkExpiresAt,
    };
  }
}

const tooManyOpen = (): Problem =>
  new Problem('rate_limited', {
    detail: '1,000 sessions of the workspace are open; more begin when some have ended',
    headers: { 'Retry-After': '60' },
  });

/** @throws Problem (403) for a scope that the key does not have */
const requireOwn = (scopes: readonly string[], { scopes: own }: Principal): void => {
  const missing = scopes
    .map((scope) => (scope === PERSONS_SCOPE ? 'readings:read' : scope))
    .find((scope) => !own.includes(scope));
  if (missing === undefined) return;
  throw new Problem('scope_missing', {
    detail: `A session has only scopes of its API key, and the key lacks ${missing}`,
    members: { scope: missing },
  });
};
