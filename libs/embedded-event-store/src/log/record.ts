import { crc32 } from 'node:zlib';
import { DamagedDataError } from './environment.js';
import { bytesFieldSize, FieldWriter, varint64Size } from '../wire/protobuf.js';

/**
 * A stored record: a fixed header, then the event as the protocol's `RecordedEvent` message, ready to be sent.
 *
 *   0  u32  CRC-32 of everything after it
 *   4  u8   kind
 *   5  u8   0
 *   6  u16  offset of the stream name within the message
 *   8  u16  length of the stream name, bytes
 *   10 u16  length of the event type, bytes
 *   12 u32  offset of the event type within the message
 *   16 u64  revision
 *   24 u64  position
 *   32 u64  created, milliseconds since 1970
 *   40      the message, whose first field is always the id (40 bytes)
 */
const HEADER_BYTES = 40;

/** Size of the id field at the start of every message: UUID { string }. */
const ID_FIELD_BYTES = 40;

/** Maximum length of a stream name or an event type, UTF-8 bytes. */
export const MAX_NAME_BYTES = 1_024;

export enum RecordKind {
  Event = 0,
  /** The last event of a tombstoned stream. */
  Tombstone = 2,
}

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

const KEY_FIELD = 1;
const VALUE_FIELD = 2;
const METADATA_MAP_FIELD = 6;
/** The protocol expresses `created` in .NET ticks (100 ns) since 1970. */
const TICKS_PER_MILLISECOND = 10_000n;

const mapEntry = (key: string, value: string): Buffer => {
  const keyBytes = Buffer.from(key);
  const valueBytes = Buffer.from(value);
  const writer = new FieldWriter(
    Buffer.allocUnsafe(bytesFieldSize(keyBytes.length) + bytesFieldSize(valueBytes.length)),
  );
  return writer.bytesField(KEY_FIELD, keyBytes).bytesField(VALUE_FIELD, valueBytes).buffer;
};

/** Encodes a numbered event as a stored record. */
export const encodeRecord = (event: ProposedEvent, placement: Placement, kind = RecordKind.Event): Buffer => {
  const { revision, position, createdAt } = placement;
  const name = Buffer.from(placement.stream);
  const type = mapEntry('type', event.type);
  const contentType = mapEntry('content-type', event.contentType);
  const created = mapEntry('created', String(BigInt(createdAt) * TICKS_PER_MILLISECOND));
  const size =
    HEADER_BYTES +
    ID_FIELD_BYTES +
    bytesFieldSize(bytesFieldSize(name.length)) +
    (1 + varint64Size(revision)) +
    2 * (1 + varint64Size(position)) +
    bytesFieldSize(type.length) +
    bytesFieldSize(contentType.length) +
    bytesFieldSize(created.length) +
    (event.metadata.length > 0 ? bytesFieldSize(event.metadata.length) : 0) +
    bytesFieldSize(event.data.length);
  const writer = new FieldWriter(Buffer.allocUnsafe(size));
  const bytes = writer.buffer;
  writer.offset = HEADER_BYTES;
  writer.header(1, ID_FIELD_BYTES - 2).bytesField(2, Buffer.from(event.id, 'latin1'));
  writer.header(2, bytesFieldSize(name.length)).header(3, name.length);
  const nameOffset = writer.offset - HEADER_BYTES;
  writer.raw(name).uint64Field(3, revision).uint64Field(4, position).uint64Field(5, position);
  writer.bytesField(METADATA_MAP_FIELD, type);
  const typeBytes = Buffer.byteLength(event.type);
  const typeOffset = writer.offset - HEADER_BYTES - typeBytes;
  writer.bytesField(METADATA_MAP_FIELD, contentType).bytesField(METADATA_MAP_FIELD, created);
  if (event.metadata.length > 0) writer.bytesField(7, event.metadata);
  writer.bytesField(8, event.data);

  bytes[4] = kind;
  bytes[5] = 0;
  bytes.writeUInt16BE(nameOffset, 6);
  bytes.writeUInt16BE(name.length, 8);
  bytes.writeUInt16BE(typeBytes, 10);
  bytes.writeUInt32BE(typeOffset, 12);
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

  get kind(): RecordKind {
    return this.bytes[4] as RecordKind;
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
    return this.bytes.toString('latin1', HEADER_BYTES + 4, HEADER_BYTES + ID_FIELD_BYTES);
  }

  get stream(): string {
    const start = HEADER_BYTES + this.bytes.readUInt16BE(6);
    return this.bytes.toString('utf8', start, start + this.bytes.readUInt16BE(8));
  }

  get type(): string {
    const start = HEADER_BYTES + this.bytes.readUInt32BE(12);
    return this.bytes.toString('utf8', start, start + this.bytes.readUInt16BE(10));
  }

  /** The `RecordedEvent` message. */
  get message(): Buffer {
    return this.bytes.subarray(HEADER_BYTES);
  }

  get data(): Buffer {
    return this.field(8);
  }

  /** What the appending program wrote beside the data. */
  get metadata(): Buffer {
    return this.field(7);
  }

  /** A field of the message, found by scanning it; empty when it is absent. */
  private field(number: number): Buffer {
    const { message } = this;
    let offset = ID_FIELD_BYTES;
    while (offset < message.length) {
      const tag = message[offset++] ?? 0;
      const value = readVarint(message, offset);
      offset = value.next;
      if ((tag & 7) !== 2) continue;
      if (tag >> 3 === number) return message.subarray(offset, offset + value.value);
      offset += value.value;
    }
    return Buffer.alloc(0);
  }
}

const readVarint = (bytes: Buffer, start: number): { value: number; next: number } => {
  let value = 0;
  let factor = 1;
  let next = start;
  for (;;) {
    const byte = bytes[next++] ?? 0;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, next };
    factor *= 0x80;
  }
};
