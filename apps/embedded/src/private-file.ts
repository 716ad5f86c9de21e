import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hasCode } from './stack-error.js';

export const writePrivateJson = (path: string, value: unknown): void =>
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`);

/** Writes a file that only the owner can read (mode 0600): at once, and durable even across a power failure. */
export const writePrivateFile = (path: string, text: string | Uint8Array): void => {
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
};

/** Like `writePrivateJson`; on a full disk, the file stays as it is until the next change. */
export const writePrivateJsonIfRoom = (path: string, value: unknown): void => {
  try {
    writePrivateJson(path, value);
  } catch (error) {
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
  }
};

/** @returns the parsed file, or undefined if it does not exist or is not JSON. */
export const readJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
};
