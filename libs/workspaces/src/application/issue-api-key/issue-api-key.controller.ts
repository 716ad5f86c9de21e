import { Body, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Clock } from '#event-sourcing/core/clock.js';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { expandScopes } from '#platform/auth/scopes.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { parseInstant } from '#platform/http/instant.js';
import { RequestSeed } from '#platform/http/request-seed.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { invalidRequest } from '#platform/http/problem.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { CLOCK } from '#platform/tokens.js';
import { IssueApiKey } from '../../contracts/index.js';
import { ApiKeyRoutes, managerOf, WritesKeys } from '../../http/api-key-routes.js';
import { problemOf } from '../../http/key-refusals.js';
import { issuedApiKeySchema } from '../../http/key.schemas.js';
import { untilKnown } from '../../http/until-known.js';
import { IssueApiKeyDto } from './issue-api-key.body.js';

@ApiKeyRoutes()
export class IssueApiKeyController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @WritesKeys()
  @HttpCode(201)
  @ShownOnce('apiKey')
  @ApiOperation({
    operationId: 'issueApiKey',
    summary: 'Issue an API key',
    description:
      'Only this response contains the key. The key works at once. A caller with an API key gives no more than that key has, and never `keys:write`.',
  })
  @Answers(201, 'The key', issuedApiKeySchema, ['Location'])
  @Refuses('wrong_workspace', 'key_limit_reached')
  async issue(
    @Body() body: IssueApiKeyDto,
    @Caller() caller: Principal,
    @RequestSeed() seed: Buffer | undefined,
    @Res({ passthrough: true }) response: Response,
  ) {
    const answer = await this.commands.execute(
      new IssueApiKey(
        caller.workspaceId,
        {
          label: body.label ?? null,
          mode: body.mode ?? caller.mode,
          scopes: body.scopes ? expandScopes(body.scopes) : null,
          networks: body.canonicalNetworks(),
          expiresAt: this.future(body.expiresAt ?? null),
        },
        ownRequest(caller.actor, undefined, seed),
        managerOf(caller),
      ),
    );
    if (answer.outcome !== 'issued') throw problemOf(answer);
    const { keyId, apiKey, terms } = answer;
    await untilKnown(this.queries, keyId);
    response.set('Location', `/api/v1/keys/${keyId}`);
    return { keyId, apiKey, ...terms };
  }

  private future(expiresAt: string | null): string | null {
    const expires = expiresAt === null ? null : parseInstant(expiresAt);
    if (expires !== null && Date.parse(expires) <= this.clock.now()) {
      throw invalidRequest([
        { pointer: '/expiresAt', code: 'invalid_value', detail: 'must be in the future' },
      ]);
    }
    return expires;
  }
}
