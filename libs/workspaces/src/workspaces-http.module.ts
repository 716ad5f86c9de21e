import { Global, Module } from '@nestjs/common';
import { AUTHENTICATOR } from '@app/platform/auth/authentication.js';
import { ApiKeyAuthenticator } from './authentication/api-key.authenticator.js';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { BearerAuthenticator } from './authentication/bearer.authenticator.js';
import { KeyUse } from './authentication/key-use.js';
import { WorkspaceAuthenticator } from './authentication/workspace.authenticator.js';
import { KeysController } from './http/keys.controller.js';
import { WorkspacesModule } from './workspaces.module.js';

/** The routes of API keys, and the authenticator of every HTTP route. */
@Global()
@Module({
  imports: [WorkspacesModule],
  controllers: [KeysController],
  providers: [
    KeyUse,
    PageCursors,
    ApiKeyAuthenticator,
    BearerAuthenticator,
    { provide: AUTHENTICATOR, useClass: WorkspaceAuthenticator },
  ],
  exports: [AUTHENTICATOR],
})
export class WorkspacesHttpModule {}
