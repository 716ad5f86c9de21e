import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { OpsError } from './ops-error.js';

type Fill<T> = (write: (part: Uint8Array) => void) => Promise<T>;

/**
 * Writes a new file, readable only by its owner. It has its content when it is complete; until then, `<path>.part` has
 * it. What `fill` throws leaves neither.
 * @throws OpsError when either file exists or cannot be made; nothing is changed, and `fill` is not called
 */
export const writeNewFile = async <T>(path: string, fill: Fill<T>): Promise<T> => {
  const part = `${path}.part`;
  // Takes the name, so that no other file gets it meanwhile.
  closeSync(openNew(path));
  try {
    return await writePart(part, path, fill);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
};

/**
 * Writes a file, readable only by its owner, in the place of an earlier one. That one stays until the new content is
 * complete, and when `fill` throws.
 * @throws OpsError when it cannot be written
 */
export const replaceFile = async <T>(path: string, fill: Fill<T>): Promise<T> => {
  const earlier = existsSync(path) ? statSync(path) : null;
  // A pipe or device, such as /dev/stdout, has no content to keep.
  if (earlier !== null && !earlier.isFile()) return writeThrough(path, fill);
  // Of a link, the file behind it is replaced.
  const target = earlier === null ? path : realpathSync(path);
  return writePart(`${target}.part-${randomUUID()}`, target, fill);
};

const writeThrough = async <T>(path: string, fill: Fill<T>): Promise<T> => {
  const handle = orRefuse(path, () => openSync(path, 'w'));
  try {
    return await fill((bytes) => orRefuse(path, () => writeFileSync(handle, bytes)));
  } finally {
    closeSync(handle);
  }
};

const writePart = async <T>(part: string, path: string, fill: Fill<T>): Promise<T> => {
  const handle = openNew(part);
  try {
    const filled = await fill((bytes) => orRefuse(path, () => writeFileSync(handle, bytes)));
    orRefuse(path, () => {
      fsyncSync(handle);
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

const openNew = (path: string): number => orRefuse(path, () => openSync(path, 'wx', 0o600));

/** @throws OpsError that names the file */
const orRefuse = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new OpsError(`${path} exists already. Name another file, or move that one away.`);
    throw new OpsError(`Cannot write ${path}: ${(error as Error).message}.`);
  }
};
