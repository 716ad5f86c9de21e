import { hash } from 'node:crypto';

/** Namespace of every deterministic id of the service (a fixed random UUID). */
const NAMESPACE = Buffer.from('7f0c5b2e9d6a4c1f8e3b5a7d9c2f4e61', 'hex');

const formatUuid = (bytes: Buffer): string => {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
};

/** Name-based UUID (RFC 9562, version 5) of the parts, joined by a character that no part contains. */
export const uuid5 = (...parts: readonly string[]): string => {
  const named = Buffer.concat([NAMESPACE, Buffer.from(parts.join('\u0000'), 'utf8')]);
  const bytes = hash('sha1', named, 'buffer').subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return formatUuid(bytes);
};

/** Formats the first 16 bytes of a keyed hash as a version 8 (custom) UUID: unguessable and deterministic. */
export const uuidFromHash = (digest: Uint8Array): string => {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return formatUuid(bytes);
};

/**
 * Id of the n-th event that one intent appends to one stream. The same intent yields the same ids, so repeating an
 * append with the same expected revision is idempotent.
 */
export const eventId = (stream: string, intent: string, index: number): string =>
  uuid5(stream, intent, String(index));
