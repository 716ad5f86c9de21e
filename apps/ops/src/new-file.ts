import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
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
  return writePart(path, path, fill, nameNew, mode);
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

/** Replaces a file once the new content is complete; it stays when `fill` throws. @throws OpsError */
export const replaceFile = async <T>(path: string, fill: Fill<T>): Promise<T> => {
  const earlier = existsSync(path) ? statSync(path) : null;
  // A pipe or device, such as /dev/stdout, has no content to keep.
  if (earlier !== null && !earlier.isFile()) return writeThrough(path, fill);
  // Of a link, the file behind it is replaced.
  const target = earlier === null ? path : realpathSync(path);
  return writePart(path, target, fill, renameSync);
};

const writeThrough = async <T>(path: string, fill: Fill<T>): Promise<T> => {
  const handle = orRefuse(path, () => openSync(path, 'w'));
  try {
    return await fill((bytes) => orRefuse(path, () => writeFileSync(handle, bytes)));
  } finally {
    closeSync(handle);
  }
};

/** @param path as the operator knows the file @param name gives the complete part its name */
const writePart = async <T>(
  path: string,
  target: string,
  fill: Fill<T>,
  name: (part: string, target: string) => void,
  mode = 0o600,
): Promise<T> => {
  const part = `${target}.part-${randomUUID()}`;
  const handle = orRefuse(path, () => openSync(part, 'wx', mode));
  try {
    const filled = await fill((bytes) => orRefuse(path, () => writeFileSync(handle, bytes)));
    orRefuse(path, () => {
      fsyncSync(handle);
      name(part, target);
    });
    return filled;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
};

/** Another run may have been first: its file stays. */
const nameNew = (part: string, path: string): void => {
  requireNew(path);
  renameSync(part, path);
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
