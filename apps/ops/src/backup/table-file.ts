import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs';
import { createGunzip, gzipSync } from 'node:zlib';

/** Bytes compressed at a time. */
const PART_BYTES = 1 << 20;

export interface WrittenRows {
  readonly rows: number;
  /** Lowercase hex, over the rows before compression. */
  readonly sha256: string;
}

/** Writes rows of `COPY` text into a gzip file, one line per row, synchronously: nothing waits in memory. */
export class RowsFile {
  private readonly handle: number;
  private readonly hash = createHash('sha256');
  private parts: Buffer[] = [];
  private waiting = 0;
  private rows = 0;

  constructor(path: string) {
    this.handle = openSync(path, 'wx', 0o600);
  }

  /** A chunk holds one whole row. */
  add(row: Buffer): void {
    this.hash.update(row);
    this.rows += 1;
    // The driver uses the memory again.
    this.parts.push(Buffer.from(row));
    this.waiting += row.length;
    if (this.waiting >= PART_BYTES) this.flush();
  }

  /** Makes the file durable. */
  end(): WrittenRows {
    this.flush();
    fsyncSync(this.handle);
    this.close();
    return { rows: this.rows, sha256: this.hash.digest('hex') };
  }

  close(): void {
    closeSync(this.handle);
  }

  /** Each part is a gzip member; a sequence of members is a gzip file. */
  private flush(): void {
    const member = gzipSync(Buffer.concat(this.parts), { level: 1 });
    for (let written = 0; written < member.length;)
      written += writeSync(this.handle, member, written, member.length - written);
    this.parts = [];
    this.waiting = 0;
  }
}

/** The rows of such a file. */
export const readRows = (path: string): AsyncIterable<Uint8Array> =>
  createReadStream(path).pipe(createGunzip()) as AsyncIterable<Uint8Array>;

/** The lowest text that a column of such a file has; `null`: there are no rows. Instants have the order of their texts. */
export const lowestValue = async (path: string, column: number): Promise<string | null> => {
  let lowest: string | null = null;
  let begun = '';
  for await (const chunk of readRows(path)) {
    // One character for each byte: a chunk may end within a longer one.
    const rows = (begun + Buffer.from(chunk).toString('latin1')).split('\n');
    begun = rows.pop()!;
    for (const row of rows) {
      const value = row.split('\t', column + 1)[column]!;
      if (lowest === null || value < lowest) lowest = value;
    }
  }
  return lowest;
};
