/**
 * The few protobuf wire primitives needed to encode recorded events by hand. Events are encoded once, when they
 * are appended, and served as they are; a message class per event and per reader would cost most of the CPU.
 * Source: https://protobuf.dev/programming-guides/encoding/
 */

/** Wire types used here. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** Size of an unsigned integer as a varint, bytes; `value` is an integer from 0 to 2^53-1. */
const varintSize = (value: number): number => {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
};

/** Size of an unsigned 64-bit integer as a varint, bytes. */
export const varint64Size = (value: bigint): number => {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return varintSize(Number(value));
  let size = 1;
  for (let rest = value; rest >= 0x80n; rest >>= 7n) size++;
  return size;
};

/** Size of a length-delimited field with a one-byte tag (field numbers 1 to 15), bytes. */
export const bytesFieldSize = (length: number): number => 1 + varintSize(length) + length;

/** Writes protobuf fields one after another into a buffer; the caller computes its size. */
export class FieldWriter {
  offset = 0;

  constructor(readonly buffer: Buffer) {}

  /** Writes a field's tag; field numbers 1 to 15 only, so that it takes one byte. */
  tag(field: number, wireType: number): this {
    this.buffer[this.offset++] = (field << 3) | wireType;
    return this;
  }

  varint(value: number): this {
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.offset++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.offset++] = rest;
    return this;
  }

  varint64(value: bigint): this {
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return this.varint(Number(value));
    let rest = value;
    while (rest >= 0x80n) {
      this.buffer[this.offset++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[this.offset++] = Number(rest);
    return this;
  }

  uint64Field(field: number, value: bigint): this {
    return this.tag(field, VARINT).varint64(value);
  }

  /** Writes the tag and length of a field whose content the caller writes next. */
  header(field: number, length: number): this {
    return this.tag(field, LENGTH_DELIMITED).varint(length);
  }

  bytesField(field: number, value: Uint8Array): this {
    return this.header(field, value.length).raw(value);
  }

  raw(value: Uint8Array): this {
    this.buffer.set(value, this.offset);
    this.offset += value.length;
    return this;
  }
}
