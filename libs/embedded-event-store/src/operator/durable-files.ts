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

/** Makes the names in a folder durable, for example after a rename. */
export const syncFolder = syncFile;
