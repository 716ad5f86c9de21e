/** The subset of DER (ITU-T X.690) that a certificate needs. */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A tag, the length of the content, and the content. */
export const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content), content]);
};

/**
 * A length below 128 takes one byte. A longer one takes a byte with the number of length bytes, then those
 * bytes.
 */
const lengthOf = ({ length }: Buffer): Buffer => {
  if (length < 0x80) return Buffer.of(length);
  const digits = length.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes]);
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(TAGS.sequence, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => tagged(TAGS.set, ...parts);
export const octetString = (content: Uint8Array): Buffer => tagged(TAGS.octetString, content);
export const utf8String = (text: string): Buffer => tagged(TAGS.utf8String, Buffer.from(text, 'utf8'));
export const yes = (): Buffer => tagged(TAGS.boolean, Buffer.of(0xff));

/** Whole bytes; `unused` is the number of unused bits in the last byte. */
export const bitString = (content: Uint8Array, unused = 0): Buffer =>
  tagged(TAGS.bitString, Buffer.of(unused), content);

/** A non-negative integer, most significant byte first. */
export const integer = (bytes: Uint8Array): Buffer => {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.of(0) : Buffer.from(bytes.subarray(first));
  // A leading 1 bit would make the number negative.
  return tagged(TAGS.integer, ...(digits[0]! >= 0x80 ? [Buffer.of(0)] : []), digits);
};

/** Example: `1.2.840.10045.4.3.2`. The first two numbers share a byte; the others are base 128. */
export const objectIdentifier = (dotted: string): Buffer => {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const base128 = (number: number): number[] => {
    const bytes = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      bytes.unshift((left % 128) | 0x80);
    return bytes;
  };
  return tagged(TAGS.objectIdentifier, Buffer.from([first! * 40 + second!, ...rest.flatMap(base128)]));
};

/** A time with a precision of one second, in the form of RFC 5280 (4.1.2.5): a two-digit year up to 2049. */
export const time = (at: Date): Buffer => {
  const text = `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050
    ? tagged(TAGS.utcTime, Buffer.from(text.slice(2), 'ascii'))
    : tagged(TAGS.generalizedTime, Buffer.from(text, 'ascii'));
};
