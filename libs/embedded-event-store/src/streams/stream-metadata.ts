import type { Retention } from './stream-head.js';
import { DELETED_STREAM } from './stream-head.js';

/** Event type of a metadata stream. */
export const METADATA_TYPE = '$metadata';

const METASTREAM_PREFIX = '$$';

export const isMetastream = (stream: string): boolean => stream.startsWith(METASTREAM_PREFIX);
export const metastreamOf = (stream: string): string => METASTREAM_PREFIX + stream;
export const originalOf = (metastream: string): string => metastream.slice(METASTREAM_PREFIX.length);

/** A limit; undefined when it is missing or none. JSON.parse rounds the `$tb` of a deleted stream up. */
const limitOf = (value: unknown): bigint | undefined => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined;
  const limit = BigInt(value);
  return limit > DELETED_STREAM ? DELETED_STREAM : limit;
};

const parseObject = (metadata: Uint8Array): Record<string, unknown> => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(metadata).toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** The limits in a stream's metadata. Metadata that is not a JSON object sets none. */
export const retentionOf = (metadata: Uint8Array): Retention => {
  const parsed = parseObject(metadata);
  const truncateBefore = limitOf(parsed['$tb']);
  const maxCount = limitOf(parsed['$maxCount']);
  return {
    ...(truncateBefore !== undefined && { truncateBefore }),
    ...(maxCount !== undefined && maxCount > 0n && { maxCount }),
  };
};

/** Metadata of a soft-deleted stream, with the truncation point after all events. */
export const deletedMetadata = (): Buffer => Buffer.from(`{"$tb":${String(DELETED_STREAM)}}`);

/** Metadata of a stream revived by an append: unchanged, but truncated before the first new event. */
export const revivedMetadata = (metadata: Uint8Array, truncateBefore: bigint): Buffer =>
  Buffer.from(JSON.stringify({ ...parseObject(metadata), $tb: Number(truncateBefore) }));
