import { z } from 'zod';

/**
 * Longest life of a token, from its issue and from now, seconds. A token cannot be revoked, so its life must be short.
 */
const MAX_LIFE_S = 15 * 60;
/** Tolerated difference between the clocks of issuer and service, seconds. */
export const CLOCK_TOLERANCE_S = 5;

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

export type TokenClaims = z.infer<typeof claimsSchema>;

/**
 * The claims of a token that is meant for this service and currently valid, or `null`. The caller must still verify the
 * signature.
 * @param nowS seconds since the epoch
 */
export const readClaims = (
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
