import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { open, type RootDatabase } from 'lmdb';

/** Raised when the data folder cannot be served; the message is suitable for display. */
export class UnusableDataError extends Error {}

/**
 * Raised when stored bytes do not match their checksum, or contradict other stored bytes: the disk or a program damaged
 * the data file. The message names what is damaged.
 */
export class DamagedDataError extends Error {}

/** What LMDB says of pages that contradict each other. */
const LMDB_DAMAGE = /MDB_(?!MAP_FULL|MAP_RESIZED|READERS_FULL)|^Invalid key size/;

/** The message of such an error, with the data file in it. */
export const describeDamage = (file: string, { message }: Error): string =>
  `The data file ${file} is damaged: ${message}`;

/** Whether an error means damage of the data file. A damaged length makes decoding leave its buffer. */
export const isDamage = (error: unknown): error is Error =>
  error instanceof DamagedDataError ||
  error instanceof RangeError ||
  (error instanceof Error && LMDB_DAMAGE.test(error.message));

/**
 * Start of both root pages of an LMDB file: a 24-byte page header, this number, and 20 bytes before the page
 * size.
 */
const MAGIC = 0xbeefc0de;
const MAGIC_OFFSET = 24;
const PAGE_SIZE_OFFSET = 48;
const MAX_PAGE = 65_536;

/** More than LMDB's lock file needs. */
const LOCK_FILE_BYTES = 16_384;

/**
 * Opens the LMDB environment of a data folder with synced commits. It checks the file first: LMDB maps it
 * into memory, so a bad file would end the process with a signal.
 *
 * Read-only, it uses a lock file of its own. Each process that opens LMDB's shared lock file writes the number of the
 * last commit there. When a server commits at the same moment, its next commit then discards that one (ITS#9496, not
 * repaired in lmdb-js 3.5.6). Without the shared lock file, nothing keeps the server from reusing pages: see `lookAt`.
 * @throws {UnusableDataError} when the file is not an LMDB file or is truncated
 */
export const openEnvironment = (path: string, { readOnly = false, noSync = false } = {}): RootDatabase => {
  const dataFile = join(path, 'data.mdb');
  if (existsSync(dataFile)) checkRootPages(dataFile);
  else if (readOnly) throw new UnusableDataError(`The data file ${dataFile} does not exist.`);
  let environment: RootDatabase;
  const view = readOnly ? viewOf(dataFile) : undefined;
  try {
    environment = open({
      path: view ?? path,
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
  } finally {
    // LMDB has its files open by now.
    if (view !== undefined) rmSync(view, { recursive: true, force: true });
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

/** A temporary folder in which the data file has another lock file. */
const viewOf = (dataFile: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'event-store-view-'));
  symlinkSync(resolve(dataFile), join(folder, 'data.mdb'));
  // LMDB maps it into memory: without room for it, the process would end with a signal.
  writeFileSync(join(folder, 'lock.mdb'), Buffer.alloc(LOCK_FILE_BYTES));
  return folder;
};

/** Both root pages of a data file, which each commit changes; empty when there is no file. */
export const rootPages = (dataFile: string): Buffer => {
  if (!existsSync(dataFile)) return Buffer.alloc(0);
  const file = openSync(dataFile, 'r');
  try {
    const start = Buffer.alloc(PAGE_SIZE_OFFSET + 4);
    readSync(file, start, 0, start.length, 0);
    const pages = Buffer.alloc(2 * Math.min(start.readUInt32LE(PAGE_SIZE_OFFSET), MAX_PAGE));
    return pages.subarray(0, readSync(file, pages, 0, pages.length, 0));
  } finally {
    closeSync(file);
  }
};

const checkRootPages = (dataFile: string): void => {
  const pages = rootPages(dataFile);
  const second = pages.length / 2;
  const isWhole = [0, second].every(
    (start) => second > PAGE_SIZE_OFFSET && pages.readUInt32LE(Math.floor(start) + MAGIC_OFFSET) === MAGIC,
  );
  // An interrupted first start leaves an empty file.
  if (statSync(dataFile).size > 0 && !isWhole)
    throw new UnusableDataError(`The file ${dataFile} is not a data file of this store.`);
};
