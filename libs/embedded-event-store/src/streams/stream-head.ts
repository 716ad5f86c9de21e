import { crc32 } from 'node:zlib';
import { DamagedDataError } from '../log/environment.js';

/** Revision of a stream that has no events. */
export const NO_EVENTS = -1n;

/** Revision of the tombstone event, the largest signed 64-bit integer; also the `$tb` of a soft-deleted stream. */
export const DELETED_STREAM = 0x7fff_ffff_ffff_ffffn;

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
  /**
   * Revision of the last event, NO_EVENTS (-1) if none. For a tombstoned stream, the last one before the
   * tombstone.
   */
  readonly last: bigint;
  readonly tombstoned: boolean;
  readonly retention: Retention;
}

/** A soft-deleted stream hides all events until the next append. */
export const isSoftDeleted = (head: StreamHead): boolean => head.retention.truncateBefore === DELETED_STREAM;

const ABSENT = -1n;

const HEAD_BYTES = 40;
const CRC_BYTES = 4;

/**
 * Fixed 40 bytes: number, flags, last, the two limits (-1 when absent), and 8 without a meaning. The stream name is the key.
 * A CRC-32 of the name and these bytes follows.
 */
export const encodeHead = (head: StreamHead): Buffer => {
  const bytes = Buffer.alloc(HEAD_BYTES + CRC_BYTES);
  bytes.writeUIntBE(head.number, 0, 6);
  bytes[6] = head.tombstoned ? 1 : 0;
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
    tombstoned: bytes[6] === 1,
    last: bytes.readBigInt64BE(8),
    retention: {
      ...(truncateBefore !== undefined && { truncateBefore }),
      ...(maxCount !== undefined && { maxCount }),
    },
  };
};
