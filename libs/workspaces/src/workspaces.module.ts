import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { AUTHENTICATOR, type Authenticator } from '#platform/auth/authentication.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import {
  ChooseForWorkspaceHandler,
  createWorkspaceExecutor,
  FindExpiringKeysHandler,
  GetPaperHandler,
  IssueApiKeyHandler,
  OpenWorkspaceHandler,
  RevokeApiKeyAndIssuedHandler,
  RevokeApiKeyHandler,
  RotateApiKeyHandler,
  WORKSPACE_EXECUTOR,
} from './application/workspaces.js';
import { PORTAL_HANDLERS } from './application/portal-sessions.js';
import { ApiKeyAuthenticator } from './authentication/api-key.authenticator.js';
import { BearerAuthenticator } from './authentication/bearer.authenticator.js';
import { ApiKeysController } from './http/api-keys.js';
import { PortalSessionsController } from './http/portal-sessions.js';
import { workspacesProjections } from './projections.js';
import {
  ApiKeyQuery,
  GetWorkspaceHandler,
  ListApiKeysHandler,
  ListWorkspacesHandler,
} from './read-models/queries.js';

@Module({
  providers: [
    { provide: WORKSPACE_EXECUTOR, useFactory: createWorkspaceExecutor, inject: [EVENT_STORE] },
    ApiKeyQuery,
    ListApiKeysHandler,
    OpenWorkspaceHandler,
    IssueApiKeyHandler,
    RotateApiKeyHandler,
    RevokeApiKeyHandler,
    RevokeApiKeyAndIssuedHandler,
    ChooseForWorkspaceHandler,
    GetPaperHandler,
    GetWorkspaceHandler,
    ListWorkspacesHandler,
    ...PORTAL_HANDLERS,
  ],
  exports: [ApiKeyQuery],
})
export class WorkspacesModule {}

/** The routes of API keys and of the portal’s sessions, and the authenticator of every HTTP route. */
@Global()
@Module({
  imports: [WorkspacesModule],
  controllers: [ApiKeysController, PortalSessionsController],
  providers: [
    PageCursors,
    ApiKeyAuthenticator,
    BearerAuthenticator,
    {
      provide: AUTHENTICATOR,
      inject: [ApiKeyAuthenticator, BearerAuthenticator],
      useFactory: (apiKeys: ApiKeyAuthenticator, tokens: BearerAuthenticator): Authenticator => ({
        verifyApiKey: (apiKey, from) => apiKeys.verify(apiKey, from),
        verifyBearer: (token) => tokens.verify(token),
      }),
    },
  ],
  exports: [AUTHENTICATOR],
})
export class WorkspacesHttpModule {}

/** Follows the log, and answers what other modules ask of workspaces. */
@Module({
  providers: [
    { provide: WORKSPACE_EXECUTOR, useFactory: createWorkspaceExecutor, inject: [EVENT_STORE] },
    FindExpiringKeysHandler,
    GetPaperHandler,
  ],
})
export class WorkspacesWorkerModule implements OnModuleInit {
  constructor(private readonly work: WorkRegistry) {}

  onModuleInit(): void {
    for (const one of workspacesProjections) this.work.addConsumer(projectionConsumer(one));
  }
}
