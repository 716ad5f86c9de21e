const VARINT = 0;
const LENGTH_DELIMITED = 2;
/** Bytes of a varint of 64 bits, and of a field's number before it. */
const LONGEST_HEAD = 15;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Writes one protobuf message from its last field to its first. When the head of an inner message is written, its length
 * is known. Source: https://protobuf.dev/programming-guides/encoding/
 */
export class ProtobufWriter {
  private bytes: Buffer;
  private at: number;

  /** @param size expected bytes; a longer message costs a copy */
  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
    this.at = size;
  }

  /** An unsigned integer of 64 bits, a boolean or an enumeration. */
  varint(field: number, value: bigint | number): void {
    this.reserve(LONGEST_HEAD);
    this.digits(value);
    this.digits((field << 3) | VARINT);
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.reserve(length + LONGEST_HEAD);
    this.at -= length;
    this.bytes.write(value, this.at);
    this.head(field, length);
  }

  /** @param content writes the inner message, also from its end */
  message(field: number, content: () => void = nothing): void {
    const end = this.bytes.length - this.at;
    content();
    this.reserve(LONGEST_HEAD);
    this.head(field, this.bytes.length - this.at - end);
  }

  /** The whole message. */
  done(): Buffer {
    return this.bytes.subarray(this.at);
  }

  private head(field: number, length: number): void {
    this.digits(length);
    this.digits((field << 3) | LENGTH_DELIMITED);
  }

  /** Seven bits to a byte, the lowest first. */
  private digits(value: bigint | number): void {
    let from = this.at - digitsOf(value);
    this.at = from;
    let rest = value;
    if (typeof rest === 'bigint' && rest > SAFE) {
      for (; rest >= 0x80n; rest >>= 7n) this.bytes[from++] = Number(rest & 0x7fn) | 0x80;
      this.bytes[from] = Number(rest);
      return;
    }
    let small = Number(rest);
    for (; small >= 0x80; small = Math.floor(small / 0x80)) this.bytes[from++] = (small % 0x80) | 0x80;
    this.bytes[from] = small;
  }

  private reserve(length: number): void {
    if (this.at >= length) return;
    const written = this.bytes.subarray(this.at);
    const larger = Buffer.allocUnsafe(2 * (written.length + length));
    this.at = larger.length - written.length;
    written.copy(larger, this.at);
    this.bytes = larger;
  }
}

const nothing = (): void => undefined;

const digitsOf = (value: bigint | number): number => {
  let count = 1;
  if (typeof value === 'bigint' && value > SAFE) {
    for (let rest = value; rest >= 0x80n; rest >>= 7n) count += 1;
    return count;
  }
  for (let rest = Number(value); rest >= 0x80; rest /= 0x80) count += 1;
  return count;
};
