import { Inject, Injectable, Optional } from '@nestjs/common';
import {
  createLocalJWKSet,
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  type JWK,
  type JWSHeaderParameters,
  jwtVerify,
} from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Clock } from '#event-sourcing/core/clock.js';
import { MODES } from '#event-sourcing/core/request-context.js';
import { Problem } from '#platform/http/problem.js';
import type { Principal } from '#platform/auth/authentication.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK } from '#platform/tokens.js';
import { Lanes, LanesFull } from '#platform/work/lanes.js';
import type { Config } from '../settings.js';

/**
 * The key of a token, by its header; `null` when the issuer does not have it, or more than one that may be meant.
 * @throws KeysUnavailable when that is currently unknown
 */
type IssuerKeys = (header: JWSHeaderParameters) => Promise<CryptoKey | null>;

/** The issuer's keys cannot be fetched, and the known ones are too old to be trusted. */
class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const keySet = z.object({ keys: z.array(z.unknown()) });
const isKey = (one: unknown): one is JWK => typeof one === 'object' && one !== null && !Array.isArray(one);

/**
 * The keys of a JSON Web Key Set (RFC 7517). One that is unusable does not affect the others.
 * @throws Error when it is no key set
 */
const keysOf = (value: unknown): IssuerKeys => {
  const find = createLocalJWKSet({ keys: keySet.parse(value).keys.filter(isKey) });
  return (header) => find(header).catch(() => null);
};

/** What is taken of an issuer's key set: bytes that are read, and the longest wait for it (ms). */
export const KEY_SET_BOUNDS = { maxBytes: 65_536, timeoutMs: 3_000 };

/**
 * Fetches a key set: one response, no redirect, limited time and size.
 * @throws Error whose message names the fault and quotes nothing from the response
 */
const fetchKeys = async (
  url: string,
  { timeoutMs, maxBytes }: typeof KEY_SET_BOUNDS,
): Promise<IssuerKeys> => {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
    headers: { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' },
  });
  if (response.status !== 200) {
    await response.body?.cancel().catch(() => undefined);
    throw new Error(`answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the exchange.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new Error(`the response exceeds ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return keysOf(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch {
    throw new Error('the response is not a key set');
  }
};

/** The age of a key set from which it is fetched again, and up to which its keys are valid without that (ms). */
const [FRESH_MS, STALE_MS] = [600_000, 3_600_000];
/** The pause before a key set is fetched for a key that it did not have (ms), so that bad tokens cost the issuer nothing. */
const COOLDOWN_MS = 30_000;
/** The pause after a failure (ms). */
const RETRY_MS = 5_000;
const LOG_EVERY_MS = 60_000;

/**
 * Keys fetched from the issuer, as rarely as possible, with one request at a time, shared by all callers. Known keys stay
 * valid while fetching fails.
 */
class FetchedKeys {
  private known: { readonly keys: IssuerKeys; readonly fetchedAt: number } | null = null;
  private failedAt: number | null = null;
  private fetching: Promise<void> | null = null;
  private loggedAt = -Infinity;

  constructor(
    private readonly url: string,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'warn'>,
    private readonly bounds: typeof KEY_SET_BOUNDS,
  ) {}

  readonly find: IssuerKeys = async (header) => {
    await this.renew();
    const found = await this.match(header);
    if (found) return found;
    if (this.age >= COOLDOWN_MS && !this.isPausing()) {
      await this.fetch();
      const renewed = await this.match(header);
      if (renewed) return renewed;
    }
    // The issuer may have added the key meanwhile.
    if (this.failedAt !== null) throw new KeysUnavailable();
    return null;
  };

  private async match(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    return this.known && this.age < STALE_MS ? this.known.keys(header) : null;
  }

  /** Waits for the issuer only when the known keys cannot be used. Otherwise the fetch runs in the background. */
  private async renew(): Promise<void> {
    if (this.age < FRESH_MS || this.isPausing()) return;
    const fetched = this.fetch();
    if (this.age >= STALE_MS || this.failedAt === null) await fetched;
  }

  private isPausing(): boolean {
    return this.failedAt !== null && this.clock.now() - this.failedAt < RETRY_MS;
  }

  private get age(): number {
    return this.known ? this.clock.now() - this.known.fetchedAt : Infinity;
  }

  private fetch(): Promise<void> {
    this.fetching ??= this.download().finally(() => {
      this.fetching = null;
    });
    return this.fetching;
  }

  private async download(): Promise<void> {
    try {
      this.known = { keys: await fetchKeys(this.url, this.bounds), fetchedAt: this.clock.now() };
      this.failedAt = null;
    } catch (error) {
      this.failedAt = this.clock.now();
      this.logFailure(error instanceof Error ? error.message : 'unknown');
    }
  }

  /** One line a minute: the issuer may be unavailable for days. */
  private logFailure(reason: string): void {
    if (this.clock.now() - this.loggedAt < LOG_EVERY_MS) return;
    this.loggedAt = this.clock.now();
    this.log.warn({ component: 'bearer-tokens', reason }, 'the issuer’s keys could not be fetched');
  }
}

export type TokenSettings = Pick<Config, 'TOKEN_ISSUER' | 'TOKEN_AUDIENCE' | 'TOKEN_JWKS' | 'TOKEN_JWKS_URL'>;

const ALGORITHMS = ['EdDSA', 'RS256'];
/** RFC 7519, RFC 9068; the media type's prefix may be left out (RFC 7515, 4.1.9). */
const TYPES = ['jwt', 'at+jwt'];

/** What a token says, unverified; `null` for text that cannot be a valid token, whatever its signature. */
const readToken = (token: string) => {
  if (token.length > MAX_TOKEN_LENGTH) return null;
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
const MAX_TOKEN_LENGTH = 8_192;

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
