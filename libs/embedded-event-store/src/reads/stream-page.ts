import type { LogStore } from '../log/log-store.js';
import { DamagedDataError } from '../log/damaged-data.js';
import type { StoredRecord } from '../log/record.js';
import { isSoftDeleted, NO_EVENTS, type StreamHead } from '../streams/stream-head.js';
import { isMetastream, originalOf } from '../streams/stream-metadata.js';

/** Limits of one page, in events and in bytes. After each page, other calls may proceed. */
export const PAGE_EVENTS = 500;
export const PAGE_BYTES = 1024 * 1024;

export type StreamStatus =
  | { readonly kind: 'found'; readonly head: StreamHead }
  /** Never written, empty, or soft-deleted. */
  | { readonly kind: 'not-found' }
  | { readonly kind: 'tombstoned' };

/** The durable state of a stream as readers see it. */
export const streamStatus = (store: LogStore, stream: string): StreamStatus => {
  const head = store.head(stream);
  const decisive = isMetastream(stream) ? store.head(originalOf(stream)) : head;
  if (decisive?.tombstoned) return { kind: 'tombstoned' };
  if (!head || head.last === NO_EVENTS || isSoftDeleted(head)) return { kind: 'not-found' };
  return { kind: 'found', head };
};

/** The first revision visible under `$tb` and `$maxCount`; may be beyond the last one. */
export const firstVisible = ({ last, retention }: StreamHead): bigint => {
  const byCount = retention.maxCount === undefined ? 0n : last - retention.maxCount + 1n;
  const byTruncation = retention.truncateBefore ?? 0n;
  const first = byCount > byTruncation ? byCount : byTruncation;
  return first > 0n ? first : 0n;
};

/** Events created before this time are hidden by `$maxAge`, milliseconds since 1970. */
export const hiddenBefore = ({ retention }: StreamHead, now: number): number =>
  retention.maxAgeSeconds === undefined ? -Infinity : now - Number(retention.maxAgeSeconds) * 1_000;

export interface StreamPage {
  readonly records: readonly StoredRecord[];
  /** Revision where the next page starts; undefined when nothing more is visible. */
  readonly next: bigint | undefined;
}

export interface StreamPageOptions {
  /** First revision to read, inclusive. */
  readonly from: bigint;
  readonly limit: number;
  readonly backwards: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Raised when the index leads to no event, or to one that does not come next in the stream. */
export class DamagedIndexError extends DamagedDataError {
  constructor(stream: string, position: bigint) {
    super(
      `The index of the stream ${stream} is wrong for position ${String(position)}: the data file is damaged.`,
    );
  }
}

/** The next page of a stream's visible events in one direction. */
export const readStreamPage = (store: LogStore, head: StreamHead, options: StreamPageOptions): StreamPage => {
  const { from, backwards } = options;
  const first = firstVisible(head);
  const start = backwards ? (from > head.last ? head.last : from) : from < first ? first : from;
  const end = backwards ? first : head.last;
  if (backwards ? start < end : start > end) return { records: [], next: undefined };

  const oldest = hiddenBefore(head, options.now);
  const limit = Math.min(options.limit, PAGE_EVENTS);
  const records: StoredRecord[] = [];
  let bytes = 0;
  let revision = start;
  let found = false;
  for (const position of store.positions(head.number, start, end, limit)) {
    const record = store.recordAt(position);
    const expected = found ? revision + (backwards ? -1n : 1n) : record?.revision;
    if (record?.stream !== head.name || record.revision !== expected)
      throw new DamagedIndexError(head.name, position);
    found = true;
    revision = record.revision;
    // Events of a stream are in time order, so all events before an expired one have expired too.
    if (record.createdAt < oldest) {
      if (backwards) return { records, next: undefined };
      continue;
    }
    records.push(record);
    bytes += record.bytes.length;
    if (bytes >= PAGE_BYTES) break;
  }
  // A scavenge removes a stream's first events, so there may be nothing left before the first one found.
  if (!found) return { records, next: undefined };
  return { records, next: revision === end ? undefined : revision + (backwards ? -1n : 1n) };
};
