import { z } from 'zod';

/** Longest life of a token, from its issue and from now, seconds: it cannot be revoked, so it must not live long. */
const MAX_LIFE_S = 15 * 60;
/** Clocks of issuer and service may differ by so much, seconds. */
export const CLOCK_TOLERANCE_S = 5;

/** Controls, marks of direction, halves of characters: what no log shows as it is, or no database keeps. */
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
  iat: z.number().optional(),
  nbf: z.number().optional(),
  exp: z.number(),
});

export type TokenClaims = z.infer<typeof claimsSchema>;

/**
 * The claims of a token that is meant for us and good now, or `null`. They are as true as the signature, which is still
 * to be verified.
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

/** Measured from now, too: an issue in the future, or none at all, would let a token live for as long as it likes. */
const livesTooLong = ({ iat, exp }: TokenClaims, nowS: number): boolean =>
  exp - nowS > MAX_LIFE_S + CLOCK_TOLERANCE_S ||
  (iat !== undefined && (exp - iat > MAX_LIFE_S || iat - nowS > CLOCK_TOLERANCE_S));
