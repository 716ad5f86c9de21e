/** Bytes between two that are changed. A prime, so that every column of a file is met. */
const STEP = 7;
/** What a value or a line may be instead. */
const VALUES = ['null', '7', '"x"', '[]', '{}'];

/** A file with one byte, one line or one value changed: each way, in places all over the file. */
export const mutantsOfFile = (bytes: Uint8Array): readonly Buffer[] => {
  const original = Buffer.from(bytes).toString();
  // A line end more or less at the end of a signature changes nothing.
  return [...changes(bytes)].filter((changed) => changed.toString().trim() !== original.trim());
};

function* changes(bytes: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += STEP)
    for (const by of [1, 0x80]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= by;
      yield changed;
    }
  const text = Buffer.from(bytes).toString();
  const lines = text.split('\n');
  for (const index of lines.keys()) {
    yield Buffer.from(lines.toSpliced(index, 1).join('\n'));
    for (const line of VALUES) yield Buffer.from(lines.with(index, line).join('\n'));
  }
  for (const { index, 0: found } of text.matchAll(/(?<=":\s?)("[^"]*"|-?\d+|[{[])/g))
    for (const value of VALUES)
      yield Buffer.from(`${text.slice(0, index)}${value}${text.slice(index + found.length)}`);
}

/** Whether a message is one of the JavaScript engine or of OpenSSL. */
export const isRaw = (message: string): boolean =>
  /is not (a function|iterable|valid JSON)|Cannot|BigInt|routines|Unexpected|TypeError|malformed/.test(
    message,
  );
