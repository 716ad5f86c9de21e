import { Module } from '@nestjs/common';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import {
  ChoosePaperHandler,
  ChooseWebhookContentHandler,
  GetPaperHandler,
} from './application/choose/choose.handlers.js';
import { IssueApiKeyHandler } from './application/issue-api-key/issue-api-key.handler.js';
import { OpenWorkspaceHandler } from './application/open-workspace/open-workspace.handler.js';
import { RevokeApiKeyHandler } from './application/revoke-api-key/revoke-api-key.handler.js';
import { RevokeApiKeyAndIssuedHandler } from './application/revoke-api-key-and-issued/revoke-api-key-and-issued.handler.js';
import { RotateApiKeyHandler } from './application/rotate-api-key/rotate-api-key.handler.js';
import { ExamineIssuerKeysHandler } from './authentication/issuer-keys/examine-issuer-keys.handler.js';
import { RevokedKeys } from './authentication/revoked-keys.js';
import { PORTAL_HANDLERS } from './portal-sessions/portal-session.handlers.js';
import {
  ApiKeyIsKnownHandler,
  ApiKeyQuery,
  ListApiKeysHandler,
} from './read-models/api-key/api-key.query.js';
import {
  GetWorkspaceHandler,
  ListWorkspacesHandler,
  WorkspaceExistsHandler,
} from './read-models/workspace/workspace.query.js';
import { WORKSPACE_EXECUTOR, createWorkspaceExecutor } from './workspace.executor.js';

@Module({
  providers: [
    { provide: WORKSPACE_EXECUTOR, useFactory: createWorkspaceExecutor, inject: [EVENT_STORE] },
    ApiKeyQuery,
    RevokedKeys,
    ApiKeyIsKnownHandler,
    ListApiKeysHandler,
    ExamineIssuerKeysHandler,
    OpenWorkspaceHandler,
    IssueApiKeyHandler,
    RotateApiKeyHandler,
    RevokeApiKeyHandler,
    RevokeApiKeyAndIssuedHandler,
    ChoosePaperHandler,
    ChooseWebhookContentHandler,
    GetPaperHandler,
    WorkspaceExistsHandler,
    GetWorkspaceHandler,
    ListWorkspacesHandler,
    ...PORTAL_HANDLERS,
  ],
  exports: [ApiKeyQuery, RevokedKeys],
})
export class WorkspacesModule {}
