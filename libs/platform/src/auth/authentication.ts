import { SetMetadata, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { IncomingMessage } from 'node:http';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { fullClientAddress } from '../rate-limit/address.js';
import type { NeededScopes } from './scopes.js';

/** `session`: a person in the workspace portal, which calls the routes for them inside the process. */
export type AuthMode = 'apiKey' | 'bearer' | 'session';

/** The authenticated caller. */
export interface Principal {
  readonly authMode: AuthMode;
  readonly workspaceId: string;
  /** What the caller makes. */
  readonly mode: Mode;
  /** What the caller may see and change. A resource of another mode is unknown to the caller: 404. */
  readonly sees: readonly Mode[];
  /**
   * Recorded in event metadata: `apiKey:<keyId>`, `user:<sub>`, `bearer` for a token without subject,
   * or `portal:<sessionId>` for a session that an operator opened. A session that a key opened acts as that key.
   */
  readonly actor: string;
  /** What the key, the token or the session may do. */
  readonly scopes: readonly string[];
  /** Of a session: the id of the API key that opened it; `null` or absent: none did. It bounds the keys that it issues. */
  readonly openedBy?: string | null;
  /** Of a session. */
  readonly sessionId?: string;
}

/** A caller with the correct secret of an API key that does not work now, or not from here: refused, but recorded. */
export interface RefusedKey extends Pick<Principal, 'workspaceId' | 'actor'> {
  /** `ended`: revoked or expired. `network`: the key works only from other networks. */
  readonly refusal: 'ended' | 'network';
}

/** Verifies credentials. A module provides it. `null` means unknown or malformed; for a token, also expired. */
export interface Authenticator {
  /** @param from the caller's address, canonical; `null` when there is none */
  verifyApiKey(apiKey: string, from: string | null): Promise<Principal | RefusedKey | null>;
  /**
   * @param token a JWT of the portal's issuer
   * @throws Problem (503) when the token cannot be verified now
   */
  verifyBearer(token: string): Promise<Principal | null>;
}

/** What a 401 says of API keys in `WWW-Authenticate` (RFC 9110, 15.5.2). They have no registered scheme. */
export const API_KEY_CHALLENGE = 'ApiKey realm="api"';

export const AUTHENTICATOR = Symbol('Authenticator');

export const ACCEPTS_KEY = 'auth:accepts';

type Identity = Pick<Principal, 'workspaceId' | 'actor'>;

/** What this process has found out of requests: no part of the message that a client sends. */
const principals = new WeakMap<IncomingMessage, Principal>();
const identities = new WeakMap<IncomingMessage, Identity>();
const insiders = new WeakMap<IncomingMessage, Insider>();
const standings = new WeakMap<IncomingMessage, () => Promise<void>>();

/**
 * Declares which kinds of credentials a route accepts, and the scope that each needs. A route without it, or
 * `@Public()`, refuses everyone.
 */
export const Accepts = (scopes: NeededScopes) => SetMetadata(ACCEPTS_KEY, scopes);
/** A route that needs no credentials, such as the health checks. */
export const Public = () => SetMetadata(ACCEPTS_KEY, 'public');

/** Parameter decorator: the verified caller. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);

/** One whose request may wait. */
export interface StandingPrincipal extends Principal {
  /** @throws Problem when its credentials have ended meanwhile; see `requireStanding` */
  readonly stands: () => Promise<void>;
}

/** Parameter decorator: the verified caller of a route that makes requests wait. */
export const StandingCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): StandingPrincipal => {
    const request = context.switchToHttp().getRequest<Request>();
    return { ...principalOf(request), stands: () => requireStanding(request) };
  },
);

export const setPrincipal = (request: IncomingMessage, principal: Principal): void =>
  void principals.set(request, principal);

/** Notes the authenticated caller, before the check whether the caller may use the route. */
export const setIdentified = (request: IncomingMessage, caller: Identity): void =>
  void identities.set(request, caller);

/** Somebody whom this process has verified, and for whom it calls its own routes. */
export interface Insider {
  readonly principal: Principal;
  /** Verifies them again. `null`: they have ended. */
  readonly verify: () => Promise<Principal | null>;
}

/** Lets this process call its own route as somebody whom it has verified. */
export const setInsider = (request: IncomingMessage, insider: Insider): void =>
  void insiders.set(request, insider);

export const insiderOf = (request: IncomingMessage): Insider | undefined => insiders.get(request);

/** The authenticated caller, whether allowed or not; `null` when there is none. */
export const identifiedAs = (request: IncomingMessage): Identity | null => identities.get(request) ?? null;

export const principalOf = (request: IncomingMessage): Principal => verified(principals, request);

/** @param authenticate verifies the request's credentials, and throws when they are refused */
export const setStanding = (request: IncomingMessage, authenticate: () => Promise<void>): void =>
  void standings.set(request, authenticate);

/**
 * Verifies the credentials of a request again. Every route that has held a request calls it before it gives or makes
 * anything: the key may have ended meanwhile.
 * @throws Problem that a new request would be answered with
 */
export const requireStanding = (request: IncomingMessage): Promise<void> => verified(standings, request)();

const verified = <T>(noted: WeakMap<IncomingMessage, T>, request: IncomingMessage): T => {
  const found = noted.get(request);
  if (found === undefined) throw new TypeError('The route has no verified caller: declare @Accepts on it');
  return found;
};

/**
 * Verifies the credentials of a request. When both headers are present, only the API key counts.
 * @returns `null` for none, and for wrong ones
 * @throws Problem (503) when they cannot be verified now
 */
export const verifyCredentials = async (
  authenticator: Authenticator,
  request: Request,
): Promise<Principal | RefusedKey | null> => {
  const { headers } = request;
  const apiKey = headers['x-api-key'];
  if (apiKey !== undefined) {
    if (typeof apiKey !== 'string') return null;
    return authenticator.verifyApiKey(apiKey, fullClientAddress(request));
  }
  const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(headers.authorization ?? '') ?? [];
  return token === undefined ? null : authenticator.verifyBearer(token);
};
