import type { Retention } from './stream-head.js';

/** Event type of a metadata stream. */
export const METADATA_TYPE = '$metadata';

const METASTREAM_PREFIX = '$$';

export const isMetastream = (stream: string): boolean => stream.startsWith(METASTREAM_PREFIX);
export const originalOf = (metastream: string): string => metastream.slice(METASTREAM_PREFIX.length);

/** The largest limit, a signed 64-bit integer: EventStoreDB's `$tb` of a deleted stream, which JSON.parse rounds up. */
export const LARGEST_LIMIT = 0x7fff_ffff_ffff_ffffn;

/** A limit; undefined when it is missing or none. */
const limitOf = (value: unknown): bigint | undefined => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined;
  const limit = BigInt(value);
  return limit > LARGEST_LIMIT ? LARGEST_LIMIT : limit;
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
