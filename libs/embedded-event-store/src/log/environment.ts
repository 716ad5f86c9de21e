import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';

/** Raised when the data folder cannot be served; the message is suitable for display. */
export class UnusableDataError extends Error {}

/**
 * Start of both root pages of an LMDB file: a 24-byte page header, this number, and 20 bytes before the page
 * size.
 */
const MAGIC = 0xbeefc0de;
const MAGIC_OFFSET = 24;
const PAGE_SIZE_OFFSET = 48;

/**
 * Opens the LMDB environment of a data folder with synced commits. It checks the file first: LMDB maps it
 * into memory, so a bad file would end the process with a signal.
 * @throws {UnusableDataError} when the file is not an LMDB file or is truncated
 */
export const openEnvironment = (path: string, { readOnly = false, noSync = false } = {}): RootDatabase => {
  const dataFile = join(path, 'data.mdb');
  if (existsSync(dataFile)) checkRootPages(dataFile);
  else if (readOnly) throw new UnusableDataError(`The data file ${dataFile} does not exist.`);
  let environment: RootDatabase;
  try {
    environment = open({
      path,
      readOnly,
      noSync,
      maxDbs: 8,
      // Acknowledge a commit after its own sync, never after the next one's.
      overlappingSync: false,
      // Group commit decides which appends share a transaction.
      eventTurnBatching: false,
    });
  } catch (error) {
    throw new UnusableDataError(`The data file ${dataFile} cannot be opened: ${String(error)}`);
  }
  const stats = environment.getStats() as { pageSize: number; lastPageNumber: number };
  const expected = (stats.lastPageNumber + 1) * stats.pageSize;
  const actual = statSync(dataFile).size;
  if (actual >= expected) return environment;
  void environment.close();
  throw new UnusableDataError(
    `The data file ${dataFile} is truncated: it has ${String(actual)} of at least ${String(expected)} bytes.`,
  );
};

const checkRootPages = (dataFile: string): void => {
  const file = openSync(dataFile, 'r');
  try {
    const { size } = fstatSync(file);
    const wordAt = (offset: number): number => {
      const word = Buffer.alloc(4);
      return readSync(file, word, 0, 4, offset) === 4 ? word.readUInt32LE(0) : -1;
    };
    const pageSize = wordAt(PAGE_SIZE_OFFSET);
    const isWhole =
      wordAt(MAGIC_OFFSET) === MAGIC && size >= 2 * pageSize && wordAt(pageSize + MAGIC_OFFSET) === MAGIC;
    // An interrupted first start leaves an empty file.
    if (size > 0 && !isWhole)
      throw new UnusableDataError(`The file ${dataFile} is not a data file of this store.`);
  } finally {
    closeSync(file);
  }
};
