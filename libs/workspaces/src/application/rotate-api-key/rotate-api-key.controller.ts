import { HttpCode, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { RequestSeed } from '#platform/http/request-seed.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { OptionalBody } from '#platform/http/optional-body.pipe.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { RotateApiKey } from '../../contracts/index.js';
import { ApiKeyRoutes, managerOf, WritesKeys } from '../../http/api-key-routes.js';
import { absentKey, problemOf, requireKeyId } from '../../http/key-refusals.js';
import { NAMED_KEY, rotatedApiKeySchema } from '../../http/key.schemas.js';
import { untilKnown } from '../../http/until-known.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';
import { RotateApiKeyDto } from './rotate-api-key.body.js';

@ApiKeyRoutes()
export class RotateApiKeyController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly keys: ApiKeyQuery,
  ) {}

  @Post(':keyId/rotate')
  @WritesKeys()
  @HttpCode(201)
  @ShownOnce('apiKey')
  @ApiOperation({
    operationId: 'rotateApiKey',
    summary: 'Replace an API key',
    description:
      'Issues a key with the label, mode, scopes, networks and expiry of this one. Only this response contains it. The previous key works for `overlapSeconds` more, and both count as active keys. With 0 it is revoked.',
  })
  @ApiBody({ type: RotateApiKeyDto, required: false })
  @Names('keyId', 'not_found', NAMED_KEY)
  @Answers(201, 'The new key', rotatedApiKeySchema, ['Location'])
  @Refuses('key_limit_reached')
  async rotate(
    @Param('keyId') previousKeyId: string,
    @OptionalBody() { overlapSeconds }: RotateApiKeyDto,
    @Caller() caller: Principal,
    @RequestSeed() seed: Buffer | undefined,
    @Res({ passthrough: true }) response: Response,
  ) {
    requireKeyId(previousKeyId);
    const { workspaceId, actor } = caller;
    const answer = await this.commands.execute(
      new RotateApiKey(
        previousKeyId,
        overlapSeconds,
        ownRequest(actor, undefined, seed),
        workspaceId,
        managerOf(caller),
      ),
    );
    if (answer.outcome === 'unknown_key') throw await absentKey(this.keys, previousKeyId, workspaceId);
    if (answer.outcome !== 'rotated') throw problemOf(answer);
    const { keyId, apiKey, terms, previousExpiresAt } = answer;
    await untilKnown(this.queries, keyId);
    response.set('Location', `/api/v1/keys/${keyId}`);
    return { keyId, apiKey, ...terms, previousKeyId, previousExpiresAt };
  }
}
