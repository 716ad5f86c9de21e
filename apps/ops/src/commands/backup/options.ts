import { dirname, join, resolve } from 'node:path';

const STEP = 1024;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes for people, such as `3.4 MiB`. */
export const byteSize = (bytes: number): string => {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(STEP)), UNITS.length - 1);
  return `${(bytes / STEP ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
};

/** Where a backup without keys lists erased readings, by default. One list serves all backups beside it. */
export const listBeside = (backup: string): string => join(dirname(resolve(backup)), 'erased');
