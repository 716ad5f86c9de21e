import { Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '@app/platform/auth/authentication.js';
import { Answers, Names } from '@app/platform/http/openapi/operation.js';
import { Problem } from '@app/platform/http/problem.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import { RevokeApiKey } from '../../contracts/commands.js';
import { ApiKeyRoutes } from '../../http/api-key-routes.js';
import { NAMED_KEY } from '../../http/key.schemas.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';

@ApiKeyRoutes()
export class RevokeApiKeyController {
  constructor(
    private readonly commands: CommandBus,
    private readonly keys: ApiKeyQuery,
  ) {}

  @Delete(':keyId')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'Every process refuses the key at once, or within seconds while it cannot reach its database. Revoking it again changes nothing.',
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
}
