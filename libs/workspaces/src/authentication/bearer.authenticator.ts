import { Inject, Injectable, Optional } from '@nestjs/common';
import { type CryptoKey, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '#event-sourcing/core/clock.js';
import { MODES } from '#event-sourcing/core/request-context.js';
import { Problem } from '#platform/http/problem.js';
import type { Principal } from '#platform/auth/authentication.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK } from '#platform/tokens.js';
import { Lanes, LanesFull } from '#platform/work/lanes.js';
import type { Config } from '../settings.js';
import { FetchedKeys, type IssuerKeys, KEY_SET_BOUNDS, keysOf, KeysUnavailable } from './issuer-keys.js';

export type TokenSettings = Pick<Config, 'TOKEN_ISSUER' | 'TOKEN_AUDIENCE' | 'TOKEN_JWKS' | 'TOKEN_JWKS_URL'>;

const ALGORITHMS = ['EdDSA', 'RS256'];
/** RFC 7519, RFC 9068; the media type's prefix may be left out (RFC 7515, 4.1.9). */
const TYPES = ['jwt', 'at+jwt'];

/** What a token says, unverified; `null` for text that cannot be a valid token, whatever its signature. */
const readToken = (token: string) => {
  if (token.length > LONGEST_TOKEN) return null;
  try {
    const header = decodeProtectedHeader(token);
    const isUsual = ALGORITHMS.includes(header.alg ?? '') && isType(header.typ);
    return isUsual ? { header, claims: decodeJwt(token) } : null;
  } catch {
    return null;
  }
};

const isType = (typ: unknown): boolean =>
  typ === undefined ||
  (typeof typ === 'string' && TYPES.includes(typ.toLowerCase().replace(/^application\//, '')));

/**
 * Longest life of a token, from its issue and from now, seconds. A token cannot be revoked, so its life must be short.
 */
const MAX_LIFE_S = 15 * 60;
/** Tolerated difference between the clocks of issuer and service, seconds. */
const CLOCK_TOLERANCE_S = 5;

/**
 * Control characters, direction marks, lone surrogates: logs do not show them as they are, or databases reject them.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const claimsSchema = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  sub: z
    .string()
    .min(1)
    .max(200)
    .refine((text) => !UNPRINTABLE.test(text))
    .optional(),
  wid: z.string().regex(/^ws_[0-9A-Za-z]{22}$/),
  scope: z.string().max(1_000),
  livemode: z.boolean().optional(),
  iat: z.number().optional(),
  nbf: z.number().optional(),
  exp: z.number(),
});

type TokenClaims = z.infer<typeof claimsSchema>;

/**
 * The claims of a token that is meant for this service and currently valid, or `null`. The caller must still verify the
 * signature.
 * @param nowS seconds since the epoch
 */
const readClaims = (
  payload: unknown,
  expected: { readonly issuer: string; readonly audience: string },
  nowS: number,
): TokenClaims | null => {
  const { success, data: claims } = claimsSchema.safeParse(payload);
  if (!success || claims.iss !== expected.issuer) return null;
  if (![claims.aud].flat().includes(expected.audience)) return null;
  const { exp, nbf = -Infinity } = claims;
  if (exp <= nowS - CLOCK_TOLERANCE_S || nbf > nowS + CLOCK_TOLERANCE_S) return null;
  return livesTooLong(claims, nowS) ? null : claims;
};

/** Also measured from now: otherwise an `iat` in the future, or a missing one, would allow any life. */
const livesTooLong = ({ iat, exp }: TokenClaims, nowS: number): boolean =>
  exp - nowS > MAX_LIFE_S + CLOCK_TOLERANCE_S ||
  (iat !== undefined && (exp - iat > MAX_LIFE_S || iat - nowS > CLOCK_TOLERANCE_S));

/** A longer bearer token (bytes) is not checked. */
const LONGEST_TOKEN = 8_192;

/** Signatures verified at a time. Node has four threads for such work; two stay free. */
const VERIFIED_AT_ONCE = 2;
const MAY_WAIT = 1_000;

/**
 * Verifies the portal's tokens: JWTs signed with EdDSA or RS256 by a key of the configured set. Keys that a token
 * carries or references itself are never used. Requires `iss`, `aud`, `wid` (the workspace), `scope` (space-separated),
 * and an `exp` at most 15 minutes ahead; honours `nbf`, `iat`, `sub`, `typ` and `livemode`.
 *
 * Cheap checks come first: the token's shape, its claims, whether its key is known. A token that fails them gets the
 * same refusal as any other, so it reveals nothing. It costs neither a signature check nor a request to the portal.
 * Source: RFC 7519, RFC 8725.
 */
@Injectable()
export class BearerAuthenticator {
  private readonly keys: IssuerKeys | null;
  private readonly lanes = new Lanes(VERIFIED_AT_ONCE, MAY_WAIT);

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: TokenSettings,
    @Inject(LOGGER) log: Pick<Logger, 'warn'>,
    @Inject(STEADY_CLOCK) steady: Clock,
    @Optional() bounds = KEY_SET_BOUNDS,
  ) {
    const { TOKEN_JWKS: local, TOKEN_JWKS_URL: url } = config;
    this.keys = local ? keysOf(local) : url ? new FetchedKeys(url, steady, log, bounds).find : null;
  }

  /**
   * The bearer of a token, or `null` for one that is malformed, expired, or from another issuer.
   * @throws Problem (503) when the issuer's keys are unavailable: the token may be valid
   */
  async verify(token: string): Promise<Principal | null> {
    const { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience } = this.config;
    if (!this.keys || !issuer) return null;
    const shape = readToken(token);
    const claims = shape && readClaims(shape.claims, { issuer, audience }, this.clock.now() / 1_000);
    if (!claims) return null;
    const key = await this.keys(shape.header).catch(asProblem);
    if (!key) return null;
    const isSigned = await this.lanes.run(() => this.isSigned(token, key, issuer)).catch(asProblem);
    if (!isSigned) return null;
    const { sub, wid, scope, livemode } = claims;
    const scopes = scope.split(' ').filter(Boolean);
    const actor = sub === undefined ? 'bearer' : `user:${sub}`;
    return {
      authMode: 'bearer',
      workspaceId: wid,
      ...modesOf(livemode),
      actor,
      scopes,
    };
  }

  /** Checks the claims again after the signature, so that security does not depend on our own check alone. */
  private isSigned(token: string, key: CryptoKey, issuer: string): Promise<boolean> {
    return jwtVerify(token, key, {
      algorithms: ALGORITHMS,
      issuer,
      audience: this.config.TOKEN_AUDIENCE,
      requiredClaims: ['iss', 'aud', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(this.clock.now()),
    }).then(
      () => true,
      // Also for a key that is too short.
      () => false,
    );
  }
}

/** A token that names no mode sees both, and makes live resources. */
const modesOf = (livemode: boolean | undefined): Pick<Principal, 'mode' | 'sees'> => {
  if (livemode === undefined) return { mode: 'live', sees: MODES };
  const mode = livemode ? 'live' : 'test';
  return { mode, sees: [mode] };
};

/** A failure that is not the token’s fault. */
const asProblem = (cause: unknown): never => {
  if (cause instanceof KeysUnavailable)
    throw unavailable('The keys of the token’s issuer are unavailable right now', cause);
  throw cause instanceof LanesFull
    ? unavailable('Too many tokens are being verified right now', cause)
    : cause;
};

/** Credentials that cannot be checked now: the caller may retry. Its cause is logged once a minute, not for each of them. */
const unavailable = (detail: string, cause: unknown): Problem =>
  new Problem('enqueue_unavailable', { detail, headers: { 'Retry-After': '5' }, isLogged: true, cause });
