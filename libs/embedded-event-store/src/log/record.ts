import { crc32 } from 'node:zlib';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { DamagedDataError } from './environment.js';

const { ReadResp } = streamsPb;
const { ReadEvent } = ReadResp;

/**
 * A stored record: a fixed header, then the event as the protocol's answer to a read. It is encoded once, when it is
 * appended, and served as it is: a message class per event and per reader would cost most of the CPU.
 *
 *   0  u32  CRC-32 of everything after it
 *   4  u16  offset of the stream name within the message
 *   6  u16  length of the stream name, bytes
 *   8  u32  offset of the event type within the message
 *   12 u16  length of the event type, bytes
 *   14 u16  offset of the id within the message
 *   16 u64  revision
 *   24 u64  position
 *   32 u64  created, milliseconds since 1970
 *   40      the message
 */
const HEADER_BYTES = 40;

/** Of the text of a UUID. */
const ID_BYTES = 36;

/** Maximum length of a stream name or an event type, UTF-8 bytes. */
export const MAX_NAME_BYTES = 1_024;

/** A proposed event, not yet numbered. */
export interface ProposedEvent {
  /** Canonical lower-case UUID. */
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Where a proposed event was placed. */
export interface Placement {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** The protocol expresses `created` in .NET ticks (100 ns) since 1970. */
const TICKS_PER_MILLISECOND = 10_000n;

/** Encodes a numbered event as a stored record. */
export const encodeRecord = (event: ProposedEvent, placement: Placement): Buffer => {
  const { revision, position, createdAt } = placement;
  const [name, type] = [Buffer.from(placement.stream), Buffer.from(event.type)];
  const recorded = new ReadEvent.RecordedEvent()
    .setId(new sharedPb.UUID().setString(event.id))
    .setStreamIdentifier(new sharedPb.StreamIdentifier().setStreamName(name))
    .setStreamRevision(String(revision))
    .setPreparePosition(String(position))
    .setCommitPosition(String(position))
    .setCustomMetadata(event.metadata)
    .setData(event.data);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', event.contentType)
    .set('created', String(BigInt(createdAt) * TICKS_PER_MILLISECOND));
  const answer = new ReadResp().setEvent(
    new ReadEvent().setEvent(recorded).setCommitPosition(String(position)),
  );
  const bytes = Buffer.concat([Buffer.alloc(HEADER_BYTES), answer.serializeBinary()]);
  const message = bytes.subarray(HEADER_BYTES);
  // Wherever these bytes are first, they are the same.
  bytes.writeUInt16BE(message.indexOf(name), 4);
  bytes.writeUInt16BE(name.length, 6);
  bytes.writeUInt32BE(message.indexOf(type), 8);
  bytes.writeUInt16BE(type.length, 12);
  bytes.writeUInt16BE(message.indexOf(event.id), 14);
  bytes.writeBigUInt64BE(revision, 16);
  bytes.writeBigUInt64BE(position, 24);
  bytes.writeBigUInt64BE(BigInt(createdAt), 32);
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
  return bytes;
};

/** A record read from the store: a view of its bytes that decodes fields on demand. */
export class StoredRecord {
  private constructor(readonly bytes: Buffer) {}

  /** @throws {DamagedDataError} when the bytes do not match their checksum or belong to another position */
  static from(bytes: Buffer, position: bigint): StoredRecord {
    if (
      bytes.length < HEADER_BYTES ||
      crc32(bytes.subarray(4)) !== bytes.readUInt32BE(0) ||
      bytes.readBigUInt64BE(24) !== position
    ) {
      throw new DamagedDataError(
        `The record at position ${String(position)} does not match its checksum: the data file is damaged.`,
      );
    }
    return new StoredRecord(bytes);
  }

  get revision(): bigint {
    return this.bytes.readBigUInt64BE(16);
  }

  get position(): bigint {
    return this.bytes.readBigUInt64BE(24);
  }

  /** Milliseconds since 1970. */
  get createdAt(): number {
    return Number(this.bytes.readBigUInt64BE(32));
  }

  get id(): string {
    const start = HEADER_BYTES + this.bytes.readUInt16BE(14);
    return this.bytes.toString('latin1', start, start + ID_BYTES);
  }

  get stream(): string {
    const start = HEADER_BYTES + this.bytes.readUInt16BE(4);
    return this.bytes.toString('utf8', start, start + this.bytes.readUInt16BE(6));
  }

  get type(): string {
    const start = HEADER_BYTES + this.bytes.readUInt32BE(8);
    return this.bytes.toString('utf8', start, start + this.bytes.readUInt16BE(12));
  }

  /** The answer to a read, `ReadResp`. */
  get message(): Buffer {
    return this.bytes.subarray(HEADER_BYTES);
  }

  get data(): Buffer {
    return Buffer.from(this.decoded().getData_asU8());
  }

  /** What the appending program wrote beside the data. */
  get metadata(): Buffer {
    return Buffer.from(this.decoded().getCustomMetadata_asU8());
  }

  private decoded() {
    return ReadResp.deserializeBinary(this.message).getEvent()!.getEvent()!;
  }
}
