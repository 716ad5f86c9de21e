/**
 * Binary keys, big-endian so that byte order is number order.
 *
 * log   : position (8)                      → record
 * index : stream number (6) + revision (8)  → position (8)
 */

const STREAM_NUMBER_BYTES = 6;

export const positionKey = (position: bigint): Buffer => {
  const key = Buffer.allocUnsafe(8);
  key.writeBigUInt64BE(position);
  return key;
};

export const revisionKey = (streamNumber: number, revision: bigint): Buffer => {
  const key = Buffer.allocUnsafe(STREAM_NUMBER_BYTES + 8);
  key.writeUIntBE(streamNumber, 0, STREAM_NUMBER_BYTES);
  key.writeBigUInt64BE(revision, STREAM_NUMBER_BYTES);
  return key;
};

/** Largest value of a 64-bit unsigned key field. */
export const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

export const decodePosition = (bytes: Buffer): bigint => bytes.readBigUInt64BE(0);

export const decodeRevisionKey = (bytes: Buffer): { streamNumber: number; revision: bigint } => ({
  streamNumber: bytes.readUIntBE(0, STREAM_NUMBER_BYTES),
  revision: bytes.readBigUInt64BE(STREAM_NUMBER_BYTES),
});
