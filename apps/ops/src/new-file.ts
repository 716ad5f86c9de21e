import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { OpsError } from './ops-error.js';

/**
 * Writes a new file, readable only by its owner. It has its content when it is complete; until then, `<path>.part` has
 * it. What `fill` throws leaves neither.
 * @throws OpsError when either file exists or cannot be made; nothing is changed, and `fill` is not called
 */
export const writeNewFile = async <T>(
  path: string,
  fill: (write: (part: Uint8Array) => void) => Promise<T>,
): Promise<T> => {
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

const writePart = async <T>(
  part: string,
  path: string,
  fill: (write: (part: Uint8Array) => void) => Promise<T>,
): Promise<T> => {
  const handle = openNew(part);
  try {
    const filled = await fill((bytes) => writeFileSync(handle, bytes));
    fsyncSync(handle);
    renameSync(part, path);
    return filled;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
};

const openNew = (path: string): number => {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new OpsError(`${path} exists already. Name another file, or move that one away.`);
    throw new OpsError(`Cannot write ${path}: ${(error as Error).message}.`);
  }
};
