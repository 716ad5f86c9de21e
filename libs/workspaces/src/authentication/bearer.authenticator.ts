import { Inject, Injectable, Optional } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import type { Logger } from 'pino';
import type { Clock } from '#event-sourcing/core/clock.js';
import { MODES } from '#event-sourcing/core/mode.js';
import type { Principal } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK } from '#platform/tokens.js';
import {
  FetchedKeys,
  fixedKeys,
  KEY_SET_BOUNDS,
  KeysUnavailable,
  type IssuerKeys,
} from './issuer-keys/issuer-keys.js';
import type { VerificationKey } from './issuer-keys/key-set.js';
import { Lanes, LanesFull } from '#platform/work/lanes.js';
import { CLOCK_TOLERANCE_S, readClaims } from './tokens/token-claims.js';
import { ALGORITHMS, readToken } from './tokens/token-shape.js';
import type { Config } from '../settings.js';

export type TokenSettings = Pick<Config, 'TOKEN_ISSUER' | 'TOKEN_AUDIENCE' | 'TOKEN_JWKS' | 'TOKEN_JWKS_URL'>;

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
    this.keys = local ? fixedKeys(local, log) : url ? new FetchedKeys(url, steady, log, bounds) : null;
  }

  /**
   * The bearer of a token, or `null` for one that is malformed, expired, or from another issuer.
   * @throws Problem (503) when the issuer's keys are unavailable: the token may be valid
   */
  async verify(token: string): Promise<Principal | null> {
    const { TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: audience } = this.config;
    if (!this.keys || !issuer) return null;
    const shape = readToken(token, LONGEST_TOKEN);
    const claims = shape && readClaims(shape.claims, { issuer, audience }, this.clock.now() / 1_000);
    if (!claims) return null;
    const key = await this.keys.find(shape).catch(asProblem);
    if (!key || key.signatureLength !== shape.signatureLength) return null;
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

  /** Checks the claims again after the signature, so that security does not depend on our own parser alone. */
  private async isSigned(
    token: string,
    { key, algorithm }: VerificationKey,
    issuer: string,
  ): Promise<boolean> {
    try {
      await jwtVerify(token, key, {
        algorithms: ALGORITHMS.filter((one) => one === algorithm),
        issuer,
        audience: this.config.TOKEN_AUDIENCE,
        requiredClaims: ['iss', 'aud', 'exp'],
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(this.clock.now()),
      });
      return true;
    } catch (error) {
      if (error instanceof errors.JOSEError) return false;
      throw error;
    }
  }
}

/** A token that names no mode sees both, and makes live resources. */
const modesOf = (livemode: boolean | undefined): Pick<Principal, 'mode' | 'sees'> => {
  if (livemode === undefined) return { mode: 'live', sees: MODES };
  const mode = livemode ? 'live' : 'test';
  return { mode, sees: [mode] };
};

/**
 * A failure that is not the token's fault: the caller may retry. Its cause is logged once a minute, not for every
 * token.
 */
const asProblem = (cause: unknown): never => {
  const details = new Map<unknown, string>([
    [KeysUnavailable, 'The keys of the token’s issuer are unavailable right now'],
    [LanesFull, 'Too many tokens are being verified right now'],
  ]);
  const detail = details.get((cause as Error | null)?.constructor);
  if (detail === undefined) throw cause;
  throw new Problem('enqueue_unavailable', {
    detail,
    headers: { 'Retry-After': '5' },
    isLogged: true,
    cause,
  });
};
