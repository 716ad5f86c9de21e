import { Inject, Injectable } from '@nestjs/common';
import { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { Principal } from '@app/platform/auth/authentication.js';
import type { Config } from '@app/platform/config/settings.js';
import { Problem } from '@app/platform/http/problem.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';

/** Longest life of a token, from its issue and from now, seconds: it cannot be revoked, so it must not live long. */
const MAX_LIFE_S = 15 * 60;
/** Clocks of issuer and service may differ by so much, seconds. */
const CLOCK_TOLERANCE_S = 5;

const claimsSchema = z.object({
  sub: z.string().min(1).max(200).optional(),
  wid: z.string().regex(/^ws_[0-9A-Za-z]{22}$/),
  scope: z.string().max(1_000),
  iat: z.number().optional(),
  exp: z.number(),
});

/**
 * Verifies the portal's tokens: JWTs signed with EdDSA or RS256 by a key of the configured set, and by no key that a
 * token brings or names itself (`jwk`, `jku`, `x5u` are not looked at). Needs `iss`, `aud`, `wid` (the workspace), `scope`
 * (space-separated), and an `exp` at most 15 minutes ahead; honours `nbf`, `iat` and `sub`.
 * Source: RFC 7519, RFC 8725.
 */
@Injectable()
export class BearerAuthenticator {
  private readonly keys: JWTVerifyGetKey | null;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG)
    private readonly config: Pick<
      Config,
      'TOKEN_ISSUER' | 'TOKEN_AUDIENCE' | 'TOKEN_JWKS' | 'TOKEN_JWKS_URL'
    >,
  ) {
    const { TOKEN_JWKS: local, TOKEN_JWKS_URL: url } = config;
    const keys = local ? createLocalJWKSet(local) : url ? createRemoteJWKSet(new URL(url)) : null;
    this.keys = keys && orUnavailable(keys);
  }

  /**
   * The bearer of a token, or `null` for one that is malformed, expired, or not ours.
   * @throws Problem (503) when the issuer's keys cannot be had: the token may be as good as any
   */
  async verify(token: string): Promise<Principal | null> {
    if (!this.keys || !this.config.TOKEN_ISSUER) return null;
    try {
      const { payload } = await jwtVerify(token, this.keys, {
        algorithms: ['EdDSA', 'RS256'],
        issuer: this.config.TOKEN_ISSUER,
        audience: this.config.TOKEN_AUDIENCE,
        requiredClaims: ['iss', 'aud', 'exp'],
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(this.clock.now()),
      });
      const claims = claimsSchema.safeParse(payload);
      if (!claims.success || livesTooLong(claims.data, this.clock.now() / 1_000)) return null;
      const { sub, wid, scope } = claims.data;
      const scopes = scope.split(' ').filter(Boolean);
      const actor = sub === undefined ? 'bearer' : `user:${sub}`;
      return { mode: 'bearer', workspaceId: wid, actor, scopes };
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

/** What a look at the keys finds wrong with the token; everything else is wrong with the keys, or with the way to them. */
const FAULTS_OF_THE_TOKEN = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSENotSupported,
] as const;

/** The portal is away, answers in error, or with what is no key set. */
const orUnavailable =
  (keys: JWTVerifyGetKey): JWTVerifyGetKey =>
  async (header, token) => {
    try {
      return await keys(header, token);
    } catch (cause) {
      if (FAULTS_OF_THE_TOKEN.some((fault) => cause instanceof fault)) throw cause;
      throw new Problem('enqueue_unavailable', {
        detail: 'The keys of the token’s issuer cannot be had right now',
        headers: { 'Retry-After': '5' },
        cause,
      });
    }
  };

/** Measured from now, too: an issue in the future, or none at all, would let a token live for as long as it likes. */
const livesTooLong = ({ iat, exp }: z.infer<typeof claimsSchema>, nowS: number): boolean =>
  exp - nowS > MAX_LIFE_S + CLOCK_TOLERANCE_S ||
  (iat !== undefined && (exp - iat > MAX_LIFE_S || iat - nowS > CLOCK_TOLERANCE_S));
