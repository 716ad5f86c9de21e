import { appendFileSync, closeSync, fstatSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const LARGEST_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 2_000;

/** The output of one child: `<name>.log`, with the previous 10 MiB in `<name>.log.1`. */
export class LogFile {
  readonly path: string;
  private file: number;
  private bytes: number;
  private tail = '';

  constructor(folder: string, name: string) {
    this.path = join(folder, `${name}.log`);
    this.file = openSync(this.path, 'a', 0o600);
    this.bytes = fstatSync(this.file).size;
  }

  /** Never fails: a full disk must not end the stack. */
  append(output: Buffer): void {
    this.tail = (this.tail + output.toString('utf8')).slice(-TAIL_BYTES);
    try {
      if (this.bytes + output.length > LARGEST_BYTES) this.rotate();
      // Writes all of it, or throws.
      appendFileSync(this.file, output);
      this.bytes += output.length;
    } catch {
      // What the disk has no room for is missing here; the tail has it.
    }
  }

  /** The last lines written by this run, indented, to show why a child exited. */
  lastLines(count: number): string {
    const lines = this.tail.split('\n').filter((line) => line.trim() !== '');
    return lines
      .slice(-count)
      .map((line) => `  ${line}`)
      .join('\n');
  }

  private rotate(): void {
    renameSync(this.path, `${this.path}.1`);
    closeSync(this.file);
    this.file = openSync(this.path, 'a', 0o600);
    this.bytes = 0;
  }
}
