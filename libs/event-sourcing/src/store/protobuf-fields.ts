/** Wire types of protobuf. Source: https://protobuf.dev/programming-guides/encoding/ */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

/** Multiplied digits of a varint stay exact below this. */
const EXACT_BELOW = 2 ** 46;

/** Walks the fields of one encoded message, without an object for each. Unknown fields are passed over. */
export class ProtobufFields {
  /** Number of the current field. */
  field = 0;
  /** Of a length-delimited field: its content is `bytes[start, end)`. */
  start = 0;
  end = 0;
  private wireType = VARINT;
  private offset: number;

  constructor(
    readonly bytes: Buffer,
    from = 0,
    private readonly until = bytes.length,
  ) {
    this.offset = from;
  }

  /** Moves to the next field. @throws Error when the message is cut off or has a group, which proto3 does not know */
  next(): boolean {
    if (this.offset >= this.until) return false;
    this.start = this.offset;
    const tag = this.varint();
    this.field = tag >>> 3;
    this.wireType = tag & 7;
    this.start = this.offset;
    if (this.wireType === LENGTH_DELIMITED) {
      const length = this.varint();
      this.start = this.offset;
      this.offset += length;
    } else if (this.wireType === VARINT) this.skipVarint();
    else if (this.wireType === FIXED_64) this.offset += 8;
    else if (this.wireType === FIXED_32) this.offset += 4;
    else throw new Error(`Wire type ${this.wireType} is not known`);
    this.end = this.offset;
    if (this.offset > this.until) throw new Error('The message is cut off');
    return true;
  }

  /** Fields of the current field's message. */
  inner(): ProtobufFields {
    return new ProtobufFields(this.bytes, this.start, this.end);
  }

  /** The current field's text. */
  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  /** The current field's unsigned integer. */
  uint64(): bigint {
    const after = this.offset;
    this.offset = this.start;
    const value = this.varint();
    this.offset = after;
    return value < EXACT_BELOW ? BigInt(value) : this.largeVarint();
  }

  /** Exact below {@link EXACT_BELOW}, roughly right above. */
  private varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.bytes[this.offset++];
      if (byte === undefined) throw new Error('The message is cut off');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  private largeVarint(): bigint {
    let value = 0n;
    for (let at = this.start, shift = 0n; at < this.end; at += 1, shift += 7n)
      value |= BigInt(this.bytes[at]! & 0x7f) << shift;
    return BigInt.asUintN(64, value);
  }

  private skipVarint(): void {
    while ((this.bytes[this.offset++] ?? 0) >= 0x80);
  }
}
