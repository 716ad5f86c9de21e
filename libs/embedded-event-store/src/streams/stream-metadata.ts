import type { Retention } from './stream-head.js';
import { DELETED_STREAM } from './stream-head.js';

/** Event type of a metadata stream. */
export const METADATA_TYPE = '$metadata';

const METASTREAM_PREFIX = '$$';

export const isMetastream = (stream: string): boolean => stream.startsWith(METASTREAM_PREFIX);
export const metastreamOf = (stream: string): string => METASTREAM_PREFIX + stream;
export const originalOf = (metastream: string): string => metastream.slice(METASTREAM_PREFIX.length);

/**
 * The integer stored under a key; undefined if it is negative or missing. It is read from the text, because
 * the `$tb` of a deleted stream exceeds 2^53 and JSON.parse would round it.
 */
const integerAt = (text: string, parsed: Record<string, unknown>, key: string): bigint | undefined => {
  const value = parsed[key];
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return undefined;
  if (Number.isSafeInteger(value)) return BigInt(value);
  const digits = new RegExp(`"\\${key}"\\s*:\\s*(\\d+)`).exec(text)?.[1];
  if (digits === undefined) return undefined;
  const exact = BigInt(digits);
  return exact > DELETED_STREAM ? DELETED_STREAM : exact;
};

const parseObject = (text: string): Record<string, unknown> => {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** The limits in a stream's metadata. Metadata that is not a JSON object sets none. */
export const retentionOf = (metadata: Uint8Array): Retention => {
  const text = Buffer.from(metadata).toString('utf8');
  const parsed = parseObject(text);
  const truncateBefore = integerAt(text, parsed, '$tb');
  const maxCount = integerAt(text, parsed, '$maxCount');
  const maxAgeSeconds = integerAt(text, parsed, '$maxAge');
  return {
    ...(truncateBefore !== undefined && { truncateBefore }),
    ...(maxCount !== undefined && maxCount > 0n && { maxCount }),
    ...(maxAgeSeconds !== undefined && maxAgeSeconds > 0n && { maxAgeSeconds }),
  };
};

/** Metadata of a soft-deleted stream, with the truncation point after all events. */
export const deletedMetadata = (): Buffer => Buffer.from(`{"$tb":${String(DELETED_STREAM)}}`);

/** Metadata of a stream revived by an append: unchanged, but truncated before the first new event. */
export const revivedMetadata = (metadata: Uint8Array, truncateBefore: bigint): Buffer => {
  const parsed = parseObject(Buffer.from(metadata).toString('utf8'));
  return Buffer.from(JSON.stringify({ ...parsed, $tb: Number(truncateBefore) }));
};
