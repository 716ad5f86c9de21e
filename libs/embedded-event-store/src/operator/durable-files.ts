import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes a file's content durable. */
export const syncFile = (path: string): void => {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

/** Makes a folder's names durable: a rename is, only after this. */
export const syncFolder = syncFile;
