import { SetMetadata, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Mode } from '@app/event-sourcing/core/mode.js';

export type AuthMode = 'apiKey' | 'bearer';

/** The authenticated caller. */
export interface Principal {
  readonly authMode: AuthMode;
  readonly workspaceId: string;
  /** What the caller makes. */
  readonly mode: Mode;
  /** What the caller may see and change. A resource of another mode is unknown to the caller: 404. */
  readonly sees: readonly Mode[];
  /** Recorded in event metadata: `apiKey:<keyId>`, `user:<sub>`, or `bearer` for a token without subject. */
  readonly actor: string;
  /** The scopes of a bearer token; an API key has full access to its workspace without scopes. */
  readonly scopes: readonly string[];
}

/** A caller with the correct secret of a revoked or expired API key: refused, but recorded. */
export interface EndedKey extends Pick<Principal, 'workspaceId' | 'actor'> {
  readonly isEnded: true;
}

/** Verifies credentials. A module provides it. `null` means unknown or malformed; for a token, also expired. */
export interface Authenticator {
  verifyApiKey(apiKey: string): Promise<Principal | EndedKey | null>;
  /**
   * @param token a JWT of the portal's issuer
   * @throws Problem (503) when the token cannot be verified now
   */
  verifyBearer(token: string): Promise<Principal | null>;
}

export const AUTHENTICATOR = Symbol('Authenticator');

const MODES = 'auth:modes';
const SCOPE_AREA = 'auth:scope-area';
const PRINCIPAL = Symbol('principal');
const IDENTIFIED = Symbol('identified');
type Identity = Pick<Principal, 'workspaceId' | 'actor'>;
type Authenticated = Request & { [PRINCIPAL]?: Principal; [IDENTIFIED]?: Identity };

/** Declares which authentication modes a route accepts. A route without it, or `@Public()`, refuses everyone. */
export const Accepts = (...modes: readonly AuthMode[]) => SetMetadata(MODES, modes);
/**
 * The area of a bearer token's scopes that a route belongs to: `<area>:read` for GET, `<area>:write` for the rest. A
 * route that accepts bearer tokens and names no area refuses them all. Each module lists its areas in its manifest.
 */
export const ScopeArea = (area: string) => SetMetadata(SCOPE_AREA, area);
/** A route that needs no credentials, such as the health checks. */
export const Public = () => SetMetadata(MODES, 'public');
export const AUTH_MODES_KEY = MODES;
export const SCOPE_AREA_KEY = SCOPE_AREA;

/** The scope that a bearer token needs for a method of a route in this area. */
export const scopeFor = (area: string, method: string): string =>
  `${area}:${['GET', 'HEAD'].includes(method.toUpperCase()) ? 'read' : 'write'}`;

/** Parameter decorator: the verified caller. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);

export const setPrincipal = (request: Request, principal: Principal): void => {
  (request as Authenticated)[PRINCIPAL] = principal;
};

/** Notes the authenticated caller, before the check whether the caller may use the route. */
export const setIdentified = (request: Request, principal: Identity): void => {
  (request as Authenticated)[IDENTIFIED] = principal;
};

/** The authenticated caller, whether allowed or not; `null` when there is none. */
export const identifiedAs = (request: Request): Identity | null =>
  (request as Authenticated)[IDENTIFIED] ?? null;

export const principalOf = (request: Request): Principal => {
  const principal = (request as Authenticated)[PRINCIPAL];
  if (!principal) throw new TypeError('The route has no verified caller: declare @Accepts on it');
  return principal;
};
