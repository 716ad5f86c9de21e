import { Global, Module } from '@nestjs/common';
import { AUTHENTICATOR } from '#platform/auth/authentication.js';
import { IssueApiKeyController } from './application/issue-api-key/issue-api-key.controller.js';
import { EndPortalSessionController } from './application/end-portal-session/end-portal-session.controller.js';
import { ListApiKeysController } from './application/list-api-keys/list-api-keys.controller.js';
import { ListPortalSessionsController } from './application/list-portal-sessions/list-portal-sessions.controller.js';
import { OpenPortalSessionController } from './application/open-portal-session/open-portal-session.controller.js';
import { RevokeApiKeyController } from './application/revoke-api-key/revoke-api-key.controller.js';
import { RotateApiKeyController } from './application/rotate-api-key/rotate-api-key.controller.js';
import { ApiKeyAuthenticator } from './authentication/api-key.authenticator.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { BearerAuthenticator } from './authentication/bearer.authenticator.js';
import { KeyUse } from './authentication/key-use.js';
import { WorkspaceAuthenticator } from './authentication/workspace.authenticator.js';
import { WorkspacesModule } from './workspaces.module.js';

/** The routes of API keys and of the portal’s sessions, and the authenticator of every HTTP route. */
@Global()
@Module({
  imports: [WorkspacesModule],
  controllers: [
    ListApiKeysController,
    IssueApiKeyController,
    RotateApiKeyController,
    RevokeApiKeyController,
    OpenPortalSessionController,
    ListPortalSessionsController,
    EndPortalSessionController,
  ],
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
