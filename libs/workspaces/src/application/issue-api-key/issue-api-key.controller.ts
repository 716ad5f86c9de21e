import { Body, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { Caller, type Principal } from '@app/platform/auth/authentication.js';
import { ORDINARY_SCOPES } from '@app/platform/auth/scopes.js';
import { parseInstant } from '@app/platform/http/instant.js';
import { Answers, Refuses } from '@app/platform/http/openapi/operation.js';
import { invalidRequest, Problem } from '@app/platform/http/problem.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import { CLOCK } from '@app/platform/tokens.js';
import { ApiKeyIsKnown, IssueApiKey } from '../../contracts/index.js';
import { ApiKeyRoutes } from '../../http/api-key-routes.js';
import { issuedApiKeySchema } from '../../http/key.schemas.js';
import { IssueApiKeyDto } from './issue-api-key.body.js';

/** Longest wait until authentication knows a new key, milliseconds. */
const KNOWN_WITHIN_MS = 2_000;
const ASK_EVERY_MS = 25;

@ApiKeyRoutes()
export class IssueApiKeyController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @HttpCode(201)
  @ApiOperation({
    operationId: 'issueApiKey',
    summary: 'Issue an API key',
    description: 'Only this response contains the key. The key works at once.',
  })
  @Answers(201, 'The key', issuedApiKeySchema, ['Location'])
  @Refuses('wrong_workspace', 'key_limit_reached')
  async issue(
    @Body() { label = null, expiresAt = null }: IssueApiKeyDto,
    @Caller() { workspaceId, actor }: Principal,
    @Res({ passthrough: true }) response: Response,
  ) {
    const expires = expiresAt === null ? null : parseInstant(expiresAt);
    if (expires !== null && Date.parse(expires) <= this.clock.now()) {
      throw invalidRequest([
        { pointer: '/expiresAt', code: 'invalid_value', detail: 'must be in the future' },
      ]);
    }
    const answer = await this.commands.execute(
      new IssueApiKey(
        workspaceId,
        { label, mode: 'live', scopes: ORDINARY_SCOPES, networks: [], expiresAt: expires },
        ownRequest(actor),
      ),
    );
    if (answer.outcome === 'unknown_workspace') throw new Problem('wrong_workspace');
    if (answer.outcome === 'key_limit_reached') {
      throw new Problem('key_limit_reached', {
        detail: `A workspace has at most ${answer.limit} active keys; revoked and expired ones do not count`,
      });
    }
    const { keyId, apiKey } = answer;
    await this.untilKnown(keyId);
    response.set('Location', `/api/v1/keys/${keyId}`);
    return { keyId, apiKey, label, expiresAt: expires };
  }

  private async untilKnown(keyId: string): Promise<void> {
    for (const deadline = Date.now() + KNOWN_WITHIN_MS; Date.now() < deadline; await delay(ASK_EVERY_MS)) {
      if (await this.queries.execute(new ApiKeyIsKnown(keyId))) return;
    }
  }
}
