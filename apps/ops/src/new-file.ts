import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { OpsError } from './output.js';

type Fill<T> = (write: (part: Uint8Array) => void) => Promise<T>;

/**
 * Writes a new file, by default readable only by its owner. It gets its name when it is complete; until then,
 * `<path>.part-…` has its content, of this run alone. What `fill` throws leaves neither.
 * @throws OpsError when the file exists or cannot be made; `fill` is not called then
 */
export const writeNewFile = async <T>(path: string, fill: Fill<T>, mode = 0o600): Promise<T> => {
  requireNew(path);
  const part = `${path}.part-${randomUUID()}`;
  const handle = orRefuse(path, () => openSync(part, 'wx', mode));
  try {
    const filled = await fill((bytes) => orRefuse(path, () => writeFileSync(handle, bytes)));
    orRefuse(path, () => {
      fsyncSync(handle);
      // Another run may have been first: its file stays.
      requireNew(path);
      renameSync(part, path);
    });
    return filled;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
};

interface NewText {
  readonly path: string;
  readonly text: string;
  /** Whether everybody may read it. */
  readonly isPublic: boolean;
}

/** Writes all of them or none, in a folder of their owner alone. @throws as {@link writeNewFile} */
export const writeNewFiles = async (files: readonly NewText[]): Promise<void> => {
  const written: string[] = [];
  try {
    for (const { path, text, isPublic } of files) {
      orRefuse(path, () => mkdirSync(dirname(path), { recursive: true, mode: 0o700 }));
      await writeNewFile(path, async (write) => write(Buffer.from(text)), isPublic ? 0o644 : 0o600);
      written.push(path);
    }
  } catch (error) {
    for (const path of written) rmSync(path, { force: true });
    throw error;
  }
};

const existing = (path: string): OpsError =>
  new OpsError(`${path} exists already. Name another file, or move that one away.`);

/** A link that leads nowhere is a file, too. */
const requireNew = (path: string): void =>
  orRefuse(path, () => {
    if (lstatSync(path, { throwIfNoEntry: false })) throw existing(path);
  });

/** @throws OpsError that names the file */
const orRefuse = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof OpsError) throw error;
    throw new OpsError(`Cannot write ${path}: ${(error as Error).message}.`);
  }
};
