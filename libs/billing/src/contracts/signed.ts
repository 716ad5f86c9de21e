import { z } from 'zod';

/** A handle such as `ada` or `ada.lovelace`: one person, in letters that cannot be confused with others. */
export const operatorName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,39}$/);
/** Lowercase hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);
export const instant = z.iso.datetime({ precision: 3 });

/** What every statement of an operator ends with. */
export const signed = {
  /** When it was signed (RFC 3339). */
  at: instant,
  signedBy: z.strictObject({ operator: operatorName, keySha256: sha256 }),
  /** Base64 of the Ed25519 signature over `signedText` of the other members. */
  signature: base64,
};

/** The members that a statement of an operator ends with. */
export interface Signed {
  readonly at: string;
  readonly signedBy: { readonly operator: string; readonly keySha256: string };
  readonly signature: string;
}
/** What an operator adds to a statement before signing it. */
export type Unsigned<T extends Signed> = Omit<T, keyof Signed>;
