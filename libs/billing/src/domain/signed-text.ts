import { createHash } from 'node:crypto';
import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';

/** A statement, whose type is signed with its data. */
export interface Statement {
  readonly type: string;
  readonly data: object;
}

/**
 * The text that an operator signs: canonical JSON of `{ format, type, data }`, where `data` has no signature. The format
 * keeps it apart from seals and months.
 */
export const signedText = ({ type, data }: Statement): string => {
  const { signature: _, ...rest } = data as { signature?: string };
  return canonicalJson({ format: 'operator-statement/1', type, data: rest });
};

/** Lowercase hex SHA-256 of the signed text: what later statements name it by. */
export const statementDigest = (statement: Statement): string =>
  createHash('sha256').update(signedText(statement)).digest('hex');

/** Lowercase hex SHA-256 of a public key (base64 of DER, SPKI). */
export const keyDigest = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex');
