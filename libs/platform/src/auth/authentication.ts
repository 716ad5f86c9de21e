import { SetMetadata, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

export type AuthMode = 'apiKey' | 'bearer';

/** Who calls, proved. */
export interface Principal {
  readonly mode: AuthMode;
  readonly workspaceId: string;
  /** Recorded in event metadata: `apiKey:<keyId>` or `user:<sub>`. */
  readonly actor: string;
  readonly scopes: readonly string[];
}

/** Verifies credentials. Provided by the workspaces module; `null` means unknown, expired, revoked or malformed. */
export interface Authenticator {
  verifyApiKey(apiKey: string): Promise<Principal | null>;
}

export const AUTHENTICATOR = Symbol('Authenticator');

const MODES = 'auth:modes';
const PRINCIPAL = Symbol('principal');
type Authenticated = Request & { [PRINCIPAL]?: Principal };

/** Declares which authentication modes a route accepts. A route without it, or `@Public()`, refuses everyone. */
export const Accepts = (...modes: readonly AuthMode[]) => SetMetadata(MODES, modes);
/** A route that needs no credentials, such as the health checks. */
export const Public = () => SetMetadata(MODES, 'public');
export const AUTH_MODES_KEY = MODES;

/** Parameter decorator: the verified caller. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);

export const setPrincipal = (request: Request, principal: Principal): void => {
  (request as Authenticated)[PRINCIPAL] = principal;
};

export const principalOf = (request: Request): Principal => {
  const principal = (request as Authenticated)[PRINCIPAL];
  if (!principal) throw new TypeError('The route has no verified caller: declare @Accepts on it');
  return principal;
};
