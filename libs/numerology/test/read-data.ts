import { readFileSync } from 'node:fs';

/** Text of a file in `test/data`. */
export const readData = (file: string): string =>
  readFileSync(new URL(`data/${file}`, import.meta.url), 'utf8');
