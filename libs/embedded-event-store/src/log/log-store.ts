import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { decodeHead, encodeHead, type StreamHead } from '../streams/stream-head.js';
import {
  DamagedDataError,
  describeDamage,
  isDamage,
  openEnvironment,
  UnusableDataError,
} from './environment.js';
import { StoredRecord } from './record.js';

/** Keys are big-endian, so that byte order is number order. */
const STREAM_NUMBER_BYTES = 6;

export const positionKey = (position: bigint): Buffer => {
  const key = Buffer.allocUnsafe(8);
  key.writeBigUInt64BE(position);
  return key;
};

export const revisionKey = (streamNumber: number, revision: bigint): Buffer => {
  const key = Buffer.allocUnsafe(STREAM_NUMBER_BYTES + 8);
  key.writeUIntBE(streamNumber, 0, STREAM_NUMBER_BYTES);
  key.writeBigUInt64BE(revision, STREAM_NUMBER_BYTES);
  return key;
};

/** Largest value of a 64-bit unsigned key field. */
export const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

const decodePosition = (bytes: Buffer): bigint => bytes.readBigUInt64BE(0);

const decodeRevisionKey = (bytes: Buffer): { streamNumber: number; revision: bigint } => ({
  streamNumber: bytes.readUIntBE(0, STREAM_NUMBER_BYTES),
  revision: bytes.readBigUInt64BE(STREAM_NUMBER_BYTES),
});

/** Version of the data folder layout. Folders with another version are refused. */
export const FORMAT_VERSION = 1;

/** Position of the first record. A consumer that has seen nothing has checkpoint 0, and must get this one. */
export const FIRST_POSITION = 64n;
/** Number of records at the end of the log that are verified and remembered when the folder is opened. */
const TAIL_RECORDS = 1_000;

/** One append as written: its records and the resulting stream heads. */
export interface LogWrite {
  readonly records: readonly NumberedRecord[];
  readonly heads: readonly StreamHead[];
}

export interface NumberedRecord {
  readonly streamNumber: number;
  readonly revision: bigint;
  readonly position: bigint;
  readonly bytes: Buffer;
}

export interface RangeOptions {
  /** Inclusive. */
  readonly from: bigint;
  readonly limit: number;
  readonly backwards?: boolean;
}

export interface StoreUsage {
  readonly events: number;
  /** Equal to the number of events, unless the file is damaged. */
  readonly indexEntries: number;
  readonly streams: number;
}

/** The one file of a store's data. */
export const dataFileOf = (folder: string): string => join(folder, 'data', 'data.mdb');

const entries = (table: Database<Buffer, Buffer>): number =>
  (table.getStats() as { entryCount: number }).entryCount;

/**
 * The durable store: four LMDB tables in one environment.
 *
 *   log    position (8 bytes)                     → record
 *   index  stream number (6), revision (8 bytes)  → position (8 bytes)
 *   heads  stream name                            → head
 *   about  'format', 'streams'                    → text
 *
 * A write is one LMDB transaction, committed and synced as a whole, so a crash leaves either all of it or nothing
 * (LMDB switches between two root pages; there is no log tail to repair). Reads see committed data only.
 */
export class LogStore {
  private readonly log: Database<Buffer, Buffer>;
  private readonly index: Database<Buffer, Buffer>;
  private readonly heads: Database<Buffer, Buffer>;
  private readonly about: Database<string, string>;
  /** Skips unchanged counts, because writing them would cost every transaction a page. */
  private writtenStreamCount: number | undefined;

  private constructor(
    private readonly environment: RootDatabase,
    /** The data file, to name it when it is damaged. */
    readonly file: string,
  ) {
    const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
    this.log = environment.openDB('log', binary);
    this.index = environment.openDB('index', binary);
    this.heads = environment.openDB('heads', binary);
    this.about = environment.openDB('about', { encoding: 'string' });
  }

  /**
   * Opens or creates the store in a folder that the caller has locked.
   * @throws {UnusableDataError} when it has another format or its last records are damaged
   */
  static async open(folder: string, { noSync = false } = {}): Promise<LogStore> {
    mkdirSync(folder, { recursive: true });
    const environment = openEnvironment(join(folder, 'data'), { noSync });
    const store = new LogStore(environment, dataFileOf(folder));
    try {
      await store.checkFormat();
      store.verifyCounts();
      store.verifyTail();
    } catch (error) {
      await store.close();
      if (!isDamage(error)) throw error;
      throw new UnusableDataError(`${describeDamage(store.file, error)} Restore a backup.`);
    }
    return store;
  }

  /**
   * Opens an existing store for reading. `lookAt` calls it, and keeps a running server from reusing what it reads.
   * @throws {UnusableDataError} when there is no store or it has another format
   */
  static async inspect(folder: string): Promise<LogStore> {
    const store = new LogStore(openEnvironment(join(folder, 'data'), { readOnly: true }), dataFileOf(folder));
    try {
      await store.checkFormat();
    } catch (error) {
      await store.close();
      throw isDamage(error) ? new UnusableDataError(describeDamage(store.file, error)) : error;
    }
    return store;
  }

  /** Writes appends in one synced transaction. If it rejects, nothing was written. */
  async write(writes: readonly LogWrite[], streamCount: number): Promise<void> {
    await this.environment.batch(() => {
      for (const { records, heads } of writes) {
        for (const { streamNumber, revision, position, bytes } of records) {
          const key = positionKey(position);
          void this.log.put(key, bytes);
          void this.index.put(revisionKey(streamNumber, revision), key);
        }
        for (const head of heads) void this.heads.put(Buffer.from(head.name), encodeHead(head));
      }
      if (streamCount !== this.writtenStreamCount) void this.about.put('streams', String(streamCount));
    });
    this.writtenStreamCount = streamCount;
    this.environment.resetReadTxn();
  }

  /** The durable head of a stream; undefined if nothing was ever written for it. */
  head(name: string): StreamHead | undefined {
    const bytes = this.heads.get(Buffer.from(name));
    return bytes && decodeHead(name, bytes);
  }

  /** Number of streams ever created, which is also the number of the next stream. */
  streamCount(): number {
    return Number(this.about.get('streams') ?? '0');
  }

  /** @throws {DamagedDataError} */
  recordAt(position: bigint): StoredRecord | undefined {
    const bytes = this.log.get(positionKey(position));
    return bytes && StoredRecord.from(bytes, position);
  }

  /** The event of a stream at a revision. @throws {DamagedDataError} */
  recordOf(streamNumber: number, revision: bigint): StoredRecord | undefined {
    const position = this.positionOf(streamNumber, revision);
    return position === undefined ? undefined : this.recordAt(position);
  }

  /** Records of the whole log in position order (or reverse). @throws {DamagedDataError} */
  *records({ from, limit, backwards = false }: RangeOptions): Generator<StoredRecord> {
    const range = { start: positionKey(from), limit, reverse: backwards };
    for (const { key, value } of this.log.getRange(range))
      yield StoredRecord.from(value, decodePosition(key));
  }

  /** Positions of a stream's events from one revision to another, both inclusive, in that direction. */
  *positions(streamNumber: number, from: bigint, to: bigint, limit: number): Generator<bigint> {
    const backwards = to < from;
    const start = revisionKey(streamNumber, from);
    const end = backwards
      ? revisionKey(streamNumber, to)
      : revisionKey(streamNumber, to === MAX_UINT64 ? to : to + 1n);
    // LMDB ranges exclude their end. When reading backwards, the limit and the check below stop the loop.
    const range = backwards ? { start, limit, reverse: true } : { start, end, limit };
    for (const { key, value } of this.index.getRange(range)) {
      if (backwards && key.compare(end) < 0) return;
      yield decodePosition(value);
    }
  }

  /** The last record of the log, or undefined when it is empty. */
  lastRecord(): StoredRecord | undefined {
    const [last] = this.records({ from: MAX_UINT64, limit: 1, backwards: true });
    return last;
  }

  /** Storage figures of one durable state. */
  usage(): StoreUsage {
    return {
      events: entries(this.log),
      indexEntries: entries(this.index),
      streams: entries(this.heads),
    };
  }

  /** Every record as stored, without checks, in position order. */
  *rawRecords(): Generator<{ readonly position: bigint; readonly bytes: Buffer }> {
    for (const { key, value } of this.log.getRange({})) yield { position: decodePosition(key), bytes: value };
  }

  /** Whether a lookup finds the record that a scan has found: a damaged inner page can hide it. */
  isFound(position: bigint): boolean {
    return this.log.get(positionKey(position)) !== undefined;
  }

  /** According to the index. */
  positionOf(streamNumber: number, revision: bigint): bigint | undefined {
    const key = this.index.get(revisionKey(streamNumber, revision));
    return key && decodePosition(key);
  }

  /** The whole index, ordered by stream number and revision. */
  *indexEntries(): Generator<Omit<NumberedRecord, 'bytes'>> {
    for (const { key, value } of this.index.getRange({})) {
      yield { ...decodeRevisionKey(key), position: decodePosition(value) };
    }
  }

  /** Heads of all streams, ordered by name. */
  *allHeads(): Generator<StreamHead> {
    for (const { key, value } of this.heads.getRange({})) yield decodeHead(key.toString('utf8'), value);
  }

  /** Keeps the pages of the present state and of later ones from being reused. @returns what ends that */
  pin(): () => void {
    const transaction = this.environment.useReadTransaction();
    return () => transaction.done();
  }

  /** Copies one durable state into an empty folder, without free pages. Writes may continue meanwhile. */
  copyTo(folder: string): Promise<void> {
    return this.environment.backup(folder, true);
  }

  close(): Promise<void> {
    return this.environment.close();
  }

  private async checkFormat(): Promise<void> {
    const format = this.about.get('format');
    if (format === String(FORMAT_VERSION)) return;
    if (format !== undefined) {
      throw new UnusableDataError(
        `The data folder has format ${format}; this program supports format ${String(FORMAT_VERSION)}.`,
      );
    }
    await this.about.put('format', String(FORMAT_VERSION));
  }

  /** A wrong count would give a new stream the number of another one. */
  private verifyCounts(): void {
    const { events, indexEntries, streams } = this.usage();
    const counted = this.streamCount();
    if (counted !== streams || events !== indexEntries)
      throw new DamagedDataError(
        `It counts ${String(counted)} streams and ${String(events)} events, but has ${String(streams)} heads and ${String(indexEntries)} index entries.`,
      );
  }

  private verifyTail(): void {
    for (const _ of this.records({ from: MAX_UINT64, limit: TAIL_RECORDS, backwards: true }));
  }
}
