import { Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { RevokeApiKey } from '../../contracts/commands.js';
import { ApiKeyRoutes, WritesKeys } from '../../http/api-key-routes.js';
import { absentKey, requireKeyId } from '../../http/key-refusals.js';
import { NAMED_KEY } from '../../http/key.schemas.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';

@ApiKeyRoutes()
export class RevokeApiKeyController {
  constructor(
    private readonly commands: CommandBus,
    private readonly keys: ApiKeyQuery,
  ) {}

  @Delete(':keyId')
  @WritesKeys()
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'Every process refuses the key at once, or within seconds while it cannot reach its database. Revoking it again changes nothing.',
  })
  @Names('keyId', 'not_found', NAMED_KEY)
  @Answers(204, 'The key is revoked')
  async revoke(
    @Param('keyId') keyId: string,
    @Caller() { workspaceId, actor, sees }: Principal,
  ): Promise<void> {
    requireKeyId(keyId);
    const { outcome } = await this.commands.execute(
      new RevokeApiKey(keyId, null, ownRequest(actor), workspaceId, sees),
    );
    if (outcome === 'unknown_key') throw await absentKey(this.keys, keyId, workspaceId);
  }
}
