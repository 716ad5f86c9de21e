import { Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { ApiKeyRoutes, ReadsKeys } from '../../http/api-key-routes.js';
import { apiKeysSchema } from '../../http/key.schemas.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';

@ApiKeyRoutes()
export class ListApiKeysController {
  constructor(
    private readonly keys: ApiKeyQuery,
    private readonly cursors: PageCursors,
  ) {}

  @Get()
  @ReadsKeys()
  @ApiOperation({
    operationId: 'listApiKeys',
    summary: 'List the API keys of the workspace',
    description:
      'Returns the newest keys first, with revoked and expired keys but without secrets. A caller with an API key sees the keys of its mode.',
  })
  @Answers(200, 'A page of keys', apiKeysSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId, sees }: Principal,
  ) {
    const scope = ['keys', workspaceId, ...sees] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const keys = await this.keys.page(workspaceId, sees, page.limit + 1, page.after);
    return this.cursors.page(keys, page.limit, ({ issuedAt, keyId }) => [issuedAt, keyId], ...scope);
  }
}
