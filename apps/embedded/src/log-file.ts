import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const LARGEST_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 2_000;

/** The output of one child: `<name>.log`, with the previous 10 MiB in `<name>.log.1`. */
export class LogFile {
  readonly path: string;
  private file: number;
  private bytes: number;
  private tail = '';
  /** Bytes of output not written, because the disk was full. */
  private lost = 0;

  constructor(
    folder: string,
    name: string,
    private readonly write: (file: number, output: Buffer) => number = writeSync,
  ) {
    this.path = join(folder, `${name}.log`);
    this.file = openSync(this.path, 'a', 0o600);
    this.bytes = fstatSync(this.file).size;
  }

  /** Never fails: a full disk must not end the stack. Lost output is counted, and reported once there is room. */
  append(output: Buffer): void {
    this.tail = (this.tail + output.toString('utf8')).slice(-TAIL_BYTES);
    try {
      if (this.bytes + output.length > LARGEST_BYTES) this.rotate();
      if (this.lost > 0) {
        this.writeAll(
          Buffer.from(`[${this.lost} bytes of output are missing here: they could not be written]\n`),
        );
        this.lost = 0;
      }
      this.writeAll(output);
    } catch {
      this.lost += output.length;
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

  /** @throws Error when some of it cannot be written */
  private writeAll(output: Buffer): void {
    for (let done = 0; done < output.length;) {
      const written = this.write(this.file, output.subarray(done));
      this.bytes += written;
      done += written;
    }
  }

  private rotate(): void {
    renameSync(this.path, `${this.path}.1`);
    closeSync(this.file);
    this.file = openSync(this.path, 'a', 0o600);
    this.bytes = 0;
  }
}
