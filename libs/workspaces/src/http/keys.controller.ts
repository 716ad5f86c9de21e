import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { Accepts, Caller, ScopeArea, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Names, Refuses } from '@app/platform/http/openapi/operation.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { invalidRequest, Problem } from '@app/platform/http/problem.js';
import { ownRequest } from '@app/platform/process/own-request.js';
import { CLOCK } from '@app/platform/tokens.js';
import { parseInstant } from '@app/platform/http/instant.js';
import { ApiKeyIsKnown, IssueApiKey, RevokeApiKey } from '../contracts/index.js';
import { ApiKeyQuery } from '../read-models/api-key/api-key.query.js';
import { IssueApiKeyDto } from './dto/issue-api-key.dto.js';
import { apiKeysSchema, issuedApiKeySchema, NAMED_KEY } from './key.schemas.js';

/** Longest wait until authentication knows a new key, milliseconds. */
const KNOWN_WITHIN_MS = 2_000;
const ASK_EVERY_MS = 25;

/** API keys of the caller's workspace. Bearer only: a key that leaked must not mint others. */
@Controller('api/v1/keys')
@Accepts('bearer')
@ScopeArea('keys')
@ApiTags('Keys')
export class KeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly keys: ApiKeyQuery,
    private readonly cursors: PageCursors,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Every key that was issued, newest first, revoked and expired ones included; never a secret. */
  @Get()
  @ApiOperation({
    operationId: 'listApiKeys',
    summary: 'List the API keys of the workspace',
    description: 'The newest first, revoked and expired ones included; never a secret.',
  })
  @Answers(200, 'A page of keys', apiKeysSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId }: Principal,
  ) {
    const scope = ['keys', workspaceId] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const keys = await this.keys.page(workspaceId, page.limit + 1, page.after);
    return this.cursors.page(keys, page.limit, ({ issuedAt, keyId }) => [issuedAt, keyId], ...scope);
  }

  /** Issues a key; the answer is the only time it is seen. It works as soon as it is answered. */
  @Post()
  @HttpCode(201)
  @ApiOperation({
    operationId: 'issueApiKey',
    summary: 'Issue an API key',
    description: 'The answer is the only time the key is seen. It works as soon as it is answered.',
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
      new IssueApiKey(workspaceId, label, expires, ownRequest(actor)),
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

  /** Revokes a key: every process refuses it at once, or within seconds. Repeating it changes nothing. */
  @Delete(':keyId')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'Every process refuses it at once, or within seconds while it cannot reach its database. Repeating it changes nothing.',
  })
  @Names('keyId', 'not_found', NAMED_KEY)
  @Answers(204, 'The key is revoked')
  async revoke(@Param('keyId') keyId: string, @Caller() { workspaceId, actor }: Principal): Promise<void> {
    const unknown = new Problem('not_found', { detail: 'There is no such API key' });
    if (!/^[0-9A-Za-z]{8}$/.test(keyId)) throw unknown;
    const { outcome } = await this.commands.execute(
      new RevokeApiKey(keyId, null, ownRequest(actor), workspaceId),
    );
    if (outcome !== 'unknown_key') return;
    throw (await this.keys.find(keyId)) ? new Problem('wrong_workspace') : unknown;
  }

  private async untilKnown(keyId: string): Promise<void> {
    for (const deadline = Date.now() + KNOWN_WITHIN_MS; Date.now() < deadline; await delay(ASK_EVERY_MS)) {
      if (await this.queries.execute(new ApiKeyIsKnown(keyId))) return;
    }
  }
}
