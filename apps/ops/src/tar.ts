/** A file in an archive. */
export interface TarFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const BLOCK = 512;
const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/**
 * A tar archive (POSIX ustar). The same files give the same bytes: they belong to nobody, and all have one time.
 * @param modifiedAt milliseconds
 * @throws Error for a name of more than 100 bytes
 */
export const tar = (files: readonly TarFile[], modifiedAt: number): Buffer => {
  const parts = files.flatMap(({ name, bytes }) => [
    header(name, bytes.byteLength, modifiedAt),
    bytes,
    Buffer.alloc((BLOCK - (bytes.byteLength % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
};

const header = (name: string, size: number, modifiedAt: number): Buffer => {
  if (Buffer.byteLength(name) > 100) throw new Error(`The name ${name} is too long for an archive.`);
  const block = Buffer.alloc(BLOCK);
  const put = (text: string, at: number): void => void block.write(text, at, 'utf8');
  put(name, 0);
  put(octal(0o600, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(Math.floor(modifiedAt / 1_000), 12), 136);
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\u000000', 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  put(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
};
