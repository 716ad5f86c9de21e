import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { decodeHead, encodeHead, type StreamHead } from '../streams/stream-head.js';
import { openEnvironment, UnusableDataError } from './environment.js';
import { decodePosition, decodeRevisionKey, MAX_UINT64, positionKey, revisionKey } from './keys.js';
import { StoredRecord } from './record.js';

/** Version of the layout of the data folder. A folder of another version is refused. */
export const FORMAT_VERSION = 1;

/**
 * Position of the first record. Not 0, so that a consumer's checkpoint of 0 ("nothing seen yet"), which a
 * subscription excludes, hides no event.
 */
export const FIRST_POSITION = 64n;

/** Records at the end of the log that are verified and recalled when the folder is opened. */
const TAIL_RECORDS = 1_000;

/** One append as it is written: its records and the heads it leaves behind. */
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
  /** First position looked at, inclusive. */
  readonly from: bigint;
  readonly limit: number;
  readonly backwards?: boolean;
}

export interface StoreUsage {
  readonly events: number;
  /** As many as events, unless the file is damaged. */
  readonly indexEntries: number;
  readonly streams: number;
  /** Bytes of the file that are or were in use; what a removal freed is reused, not given back. */
  readonly allocatedBytes: number;
}

const entries = (table: Database<Buffer, Buffer>): number =>
  (table.getStats() as { entryCount: number }).entryCount;

/**
 * The durable store: five LMDB tables in one environment.
 *
 *   log    position                  → record
 *   index  stream number, revision   → position
 *   heads  stream name               → head
 *   about  'format', 'streams'       → text
 *   groups source, group             → persistent subscription with its checkpoint, as JSON
 *
 * A write is one LMDB transaction, committed and synced as a whole, so a crash leaves either all of it or nothing
 * (LMDB switches between two root pages; there is no log tail to repair). Reads see committed data only.
 */
export class LogStore {
  private readonly log: Database<Buffer, Buffer>;
  private readonly index: Database<Buffer, Buffer>;
  private readonly heads: Database<Buffer, Buffer>;
  private readonly about: Database<string, string>;
  private groupTable: Database<string, string> | undefined;
  /** Not written again while it stays the same: that would cost every transaction a page. */
  private writtenStreamCount: number | undefined;

  private constructor(private readonly environment: RootDatabase) {
    const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
    this.log = environment.openDB('log', binary);
    this.index = environment.openDB('index', binary);
    this.heads = environment.openDB('heads', binary);
    this.about = environment.openDB('about', { encoding: 'string' });
  }

  /**
   * Opens or creates the store in a folder that the caller has locked.
   * @throws {UnusableDataError} when the folder has another format or its last records are damaged.
   */
  static async open(folder: string, { noSync = false } = {}): Promise<LogStore> {
    mkdirSync(folder, { recursive: true });
    const environment = openEnvironment(join(folder, 'data'), { noSync });
    const store = new LogStore(environment);
    try {
      await store.checkFormat();
      store.verifyTail();
      store.groupTable = environment.openDB('groups', { encoding: 'string' });
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /**
   * Opens an existing store to look at it, also while a server writes it: what is seen is durable.
   * @throws {UnusableDataError} when there is none, or it has another format.
   */
  static async inspect(folder: string): Promise<LogStore> {
    const store = new LogStore(openEnvironment(join(folder, 'data'), { readOnly: true }));
    try {
      await store.checkFormat();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  /** Writes appends in one synced transaction. A rejection leaves nothing of them. */
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

  /** The durable head of a stream, or undefined if nothing was ever written about it. */
  head(name: string): StreamHead | undefined {
    const bytes = this.heads.get(Buffer.from(name));
    return bytes && decodeHead(name, bytes);
  }

  /** Number of streams ever created; the next stream's number. */
  streamCount(): number {
    return Number(this.about.get('streams') ?? '0');
  }

  /** @throws {DamagedRecordError} */
  recordAt(position: bigint): StoredRecord | undefined {
    const bytes = this.log.get(positionKey(position));
    return bytes && StoredRecord.from(bytes, position);
  }

  /** The event of a stream at a revision. @throws {DamagedRecordError} */
  recordOf(streamNumber: number, revision: bigint): StoredRecord | undefined {
    const key = this.index.get(revisionKey(streamNumber, revision));
    return key && this.recordAt(decodePosition(key));
  }

  /** Records of the whole log in position order (or reverse). @throws {DamagedRecordError} */
  *records({ from, limit, backwards = false }: RangeOptions): Generator<StoredRecord> {
    const range = { start: positionKey(from), limit, reverse: backwards };
    for (const { key, value } of this.log.getRange(range))
      yield StoredRecord.from(value, decodePosition(key));
  }

  /** Positions of a stream's events from one revision to another, both inclusive, in that order. */
  *positions(streamNumber: number, from: bigint, to: bigint, limit: number): Generator<bigint> {
    const backwards = to < from;
    const start = revisionKey(streamNumber, from);
    const end = backwards
      ? revisionKey(streamNumber, to)
      : revisionKey(streamNumber, to === MAX_UINT64 ? to : to + 1n);
    // LMDB ranges exclude their end; going backwards the end is reached by the limit and the check below.
    const range = backwards ? { start, limit, reverse: true } : { start, end, limit };
    for (const { key, value } of this.index.getRange(range)) {
      if (backwards && key.compare(end) < 0) return;
      yield decodePosition(value);
    }
  }

  /** The last records of the log, latest first. @throws {DamagedRecordError} */
  tail(): Generator<StoredRecord> {
    return this.records({ from: MAX_UINT64, limit: TAIL_RECORDS, backwards: true });
  }

  /** The last record of the log, or undefined when it is empty. */
  lastRecord(): StoredRecord | undefined {
    for (const record of this.records({ from: MAX_UINT64, limit: 1, backwards: true })) return record;
    return undefined;
  }

  /** Persistent subscriptions as text, in no order that matters. */
  groups(): string[] {
    return [...(this.groupTable?.getRange({}) ?? [])].map(({ value }) => value);
  }

  /** Resolves when it is durable. */
  async putGroup(key: string, text: string): Promise<void> {
    await this.groupTable?.put(key, text);
  }

  async removeGroup(key: string): Promise<void> {
    await this.groupTable?.remove(key);
  }

  /** What `info` and the operator's other commands tell of the file; reads one durable state. */
  usage(): StoreUsage {
    const { pageSize, lastPageNumber } = this.environment.getStats() as Record<string, number>;
    return {
      events: entries(this.log),
      indexEntries: entries(this.index),
      streams: entries(this.heads),
      allocatedBytes: ((lastPageNumber ?? 0) + 1) * (pageSize ?? 0),
    };
  }

  /** Every record as it is stored, unchecked, in position order. */
  *rawRecords(): Generator<{ readonly position: bigint; readonly bytes: Buffer }> {
    for (const { key, value } of this.log.getRange({})) yield { position: decodePosition(key), bytes: value };
  }

  /** The position that the index gives for a revision of a stream. */
  positionOf(streamNumber: number, revision: bigint): bigint | undefined {
    const key = this.index.get(revisionKey(streamNumber, revision));
    return key && decodePosition(key);
  }

  /** The whole index in order of stream number and revision. */
  *indexEntries(): Generator<{
    readonly streamNumber: number;
    readonly revision: bigint;
    readonly position: bigint;
  }> {
    for (const { key, value } of this.index.getRange({})) {
      yield { ...decodeRevisionKey(key), position: decodePosition(value) };
    }
  }

  /** Heads of all streams in the order of their names. */
  *allHeads(): Generator<StreamHead> {
    for (const { key, value } of this.heads.getRange({})) yield decodeHead(key.toString('utf8'), value);
  }

  /** Removes records with their index entries in one synced transaction. */
  async remove(records: readonly Omit<NumberedRecord, 'bytes'>[]): Promise<void> {
    await this.environment.batch(() => {
      for (const { streamNumber, revision, position } of records) {
        void this.log.remove(positionKey(position));
        void this.index.remove(revisionKey(streamNumber, revision));
      }
    });
    this.environment.resetReadTxn();
  }

  /** Copies one durable state, without free pages, into an empty folder, while writes go on. */
  async copyTo(folder: string): Promise<void> {
    await this.environment.backup(folder, true);
  }

  async close(): Promise<void> {
    await this.environment.close();
  }

  private async checkFormat(): Promise<void> {
    const format = this.about.get('format');
    if (format === String(FORMAT_VERSION)) return;
    if (format !== undefined) {
      throw new UnusableDataError(
        `The data folder has format ${format}; this program serves format ${String(FORMAT_VERSION)}.`,
      );
    }
    await this.about.put('format', String(FORMAT_VERSION));
  }

  private verifyTail(): void {
    try {
      for (const _ of this.tail());
    } catch (error) {
      throw new UnusableDataError(error instanceof Error ? error.message : String(error));
    }
  }
}
