import { crc32 } from 'node:zlib';
import { DamagedDataError } from '../log/environment.js';

/** Revision of a stream that has no events. */
export const NO_EVENTS = -1n;

/** Which events of a stream are visible, from its `$metadata`. */
export interface Retention {
  /** `$tb`: events before this revision are hidden. */
  readonly truncateBefore?: bigint;
  /** `$maxCount`: number of last events that are visible. */
  readonly maxCount?: bigint;
}

/** The state of one stream; immutable, replaced by each append. */
export interface StreamHead {
  readonly name: string;
  /** Number of the stream in the index. */
  readonly number: number;
  /** Revision of the last event, NO_EVENTS (-1) if none. */
  readonly last: bigint;
  readonly retention: Retention;
}

const ABSENT = -1n;

const HEAD_BYTES = 32;
const CRC_BYTES = 4;

/**
 * Fixed 32 bytes: number, 2 without a meaning, last, and the two limits (-1 when absent). The stream name is the key.
 * A CRC-32 of the name and these bytes follows.
 */
export const encodeHead = (head: StreamHead): Buffer => {
  const bytes = Buffer.alloc(HEAD_BYTES + CRC_BYTES);
  bytes.writeUIntBE(head.number, 0, 6);
  bytes.writeBigInt64BE(head.last, 8);
  bytes.writeBigInt64BE(head.retention.truncateBefore ?? ABSENT, 16);
  bytes.writeBigInt64BE(head.retention.maxCount ?? ABSENT, 24);
  bytes.writeUInt32BE(checksum(head.name, bytes), HEAD_BYTES);
  return bytes;
};

const checksum = (name: string, bytes: Buffer): number => crc32(bytes.subarray(0, HEAD_BYTES), crc32(name));

/** @throws {DamagedDataError} when the bytes do not match their checksum */
export const decodeHead = (name: string, bytes: Buffer): StreamHead => {
  const isWhole =
    bytes.length === HEAD_BYTES + CRC_BYTES && bytes.readUInt32BE(HEAD_BYTES) === checksum(name, bytes);
  if (!isWhole)
    throw new DamagedDataError(
      `The head of the stream ${name} does not match its checksum: the data file is damaged.`,
    );
  const limit = (offset: number): bigint | undefined => {
    const value = bytes.readBigInt64BE(offset);
    return value === ABSENT ? undefined : value;
  };
  const truncateBefore = limit(16);
  const maxCount = limit(24);
  return {
    name,
    number: bytes.readUIntBE(0, 6),
    last: bytes.readBigInt64BE(8),
    retention: {
      ...(truncateBefore !== undefined && { truncateBefore }),
      ...(maxCount !== undefined && { maxCount }),
    },
  };
};

/** Event type of a metadata stream. */
export const METADATA_TYPE = '$metadata';

const METASTREAM_PREFIX = '$$';

export const isMetastream = (stream: string): boolean => stream.startsWith(METASTREAM_PREFIX);
export const originalOf = (metastream: string): string => metastream.slice(METASTREAM_PREFIX.length);

/** The largest limit, a signed 64-bit integer: EventStoreDB's `$tb` of a deleted stream, which JSON.parse rounds up. */
export const MAX_LIMIT = 0x7fff_ffff_ffff_ffffn;

/** A limit; undefined when it is missing or none. */
const limitOf = (value: unknown): bigint | undefined => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return undefined;
  const limit = BigInt(value);
  return limit > MAX_LIMIT ? MAX_LIMIT : limit;
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
