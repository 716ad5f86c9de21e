import { Global, Module } from '@nestjs/common';
import { AUTHENTICATOR } from '@app/platform/auth/authentication.js';
import { ApiKeyAuthenticator } from './authentication/api-key.authenticator.js';
import { WorkspacesModule } from './workspaces.module.js';

/** Gives every HTTP route its verifier of credentials. */
@Global()
@Module({
  imports: [WorkspacesModule],
  providers: [ApiKeyAuthenticator, { provide: AUTHENTICATOR, useExisting: ApiKeyAuthenticator }],
  exports: [AUTHENTICATOR],
})
export class WorkspacesHttpModule {}
