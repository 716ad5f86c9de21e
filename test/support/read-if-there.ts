import { readFileSync } from 'node:fs';

/** @returns `undefined` when it was deleted meanwhile: PostgreSQL renews some of its files while it runs */
export const readIfThere = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
