import type { LogStore } from '../log/log-store.js';
import type { StoredRecord } from '../log/record.js';
import { isSoftDeleted, NO_EVENTS, type StreamHead } from '../streams/stream-head.js';
import { isMetastream, originalOf } from '../streams/stream-metadata.js';

/** Events and bytes that one step of a read takes from the store before other calls continue. */
export const PAGE_EVENTS = 500;
export const PAGE_BYTES = 1024 * 1024;

export type StreamStatus =
  | { readonly kind: 'found'; readonly head: StreamHead }
  /** Never written, without events, or soft-deleted. */
  | { readonly kind: 'not-found' }
  | { readonly kind: 'tombstoned' };

/** What a reader finds under a stream's name, as far as it is durable. */
export const streamStatus = (store: LogStore, stream: string): StreamStatus => {
  const head = store.head(stream);
  const decisive = isMetastream(stream) ? store.head(originalOf(stream)) : head;
  if (decisive?.tombstoned) return { kind: 'tombstoned' };
  if (!head || head.last === NO_EVENTS || isSoftDeleted(head)) return { kind: 'not-found' };
  return { kind: 'found', head };
};

/** The first revision that `$tb` and `$maxCount` leave visible; may be beyond the last one. */
export const firstVisible = ({ last, retention }: StreamHead): bigint => {
  const byCount = retention.maxCount === undefined ? 0n : last - retention.maxCount + 1n;
  const byTruncation = retention.truncateBefore ?? 0n;
  const first = byCount > byTruncation ? byCount : byTruncation;
  return first > 0n ? first : 0n;
};

/** Time before which `$maxAge` hides events, milliseconds since 1970. */
export const hiddenBefore = ({ retention }: StreamHead, now: number): number =>
  retention.maxAgeSeconds === undefined ? -Infinity : now - Number(retention.maxAgeSeconds) * 1_000;

export interface StreamPage {
  readonly records: readonly StoredRecord[];
  /** Revision to go on from; undefined when nothing more is visible. */
  readonly next: bigint | undefined;
}

export interface StreamPageOptions {
  /** First revision looked at, inclusive. */
  readonly from: bigint;
  readonly limit: number;
  readonly backwards: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The next visible events of a stream in one direction. */
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
    if (!record) continue;
    found = true;
    revision = record.revision;
    // Events of a stream are in the order of their time, so what precedes an expired one has expired too.
    if (record.createdAt < oldest) {
      if (backwards) return { records, next: undefined };
      continue;
    }
    records.push(record);
    bytes += record.bytes.length;
    if (bytes >= PAGE_BYTES) break;
  }
  // A scavenge takes a stream's first events: beyond the first one left there is nothing to go on to.
  if (!found) return { records, next: undefined };
  return { records, next: revision === end ? undefined : revision + (backwards ? -1n : 1n) };
};
