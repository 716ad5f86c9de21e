import type { LogStore } from '../log/log-store.js';
import { readAllPage } from '../reads/all-page.js';
import { compileFilter, type EventFilter } from '../reads/filter.js';
import { resolveLink, type ResolvedRecord } from '../reads/resolve-link.js';
import { readStreamPage, streamStatus } from '../reads/stream-page.js';
import { metastreamOf } from '../streams/stream-metadata.js';
import { ALL, parkedStreamOf, type GroupRecord } from './settings.js';

/** An event of a group's source. A place is a revision of the stream or, for $all, a position. */
export interface SourceEvent extends ResolvedRecord {
  readonly place: bigint;
}

export interface SourceBatch {
  readonly events: readonly SourceEvent[];
  /** Place where the next read starts. */
  readonly next: bigint;
  /** Whether there are no more events now. */
  readonly atEnd: boolean;
}

export interface Source {
  read(next: bigint, limit: number): SourceBatch;
  /** The last place in the source; -1 for none. */
  last(): bigint;
}

const streamSource = (store: LogStore, { source, settings }: GroupRecord, now: () => number): Source => ({
  read: (next, limit) => {
    const status = streamStatus(store, source);
    if (status.kind !== 'found') return { events: [], next, atEnd: true };
    const page = readStreamPage(store, status.head, { from: next, limit, backwards: false, now: now() });
    const last = page.records.at(-1);
    return {
      events: page.records.map((record) => ({
        ...resolveLink(store, record, settings.resolveLinks),
        place: record.revision,
      })),
      next: page.next ?? (last ? last.revision + 1n : next),
      atEnd: page.next === undefined,
    };
  },
  last: () => store.head(source)?.last ?? -1n,
});

/**
 * Excludes the group's own parked messages. Otherwise $all would deliver them to the group again, in an
 * endless loop.
 */
const withoutParked = ({ source, group }: GroupRecord, wanted: EventFilter | undefined): EventFilter => {
  const parked = parkedStreamOf(source, group);
  const own = new Set([parked, metastreamOf(parked)]);
  return (record) => !own.has(record.stream) && (wanted?.(record) ?? true);
};

const allSource = (store: LogStore, record: GroupRecord): Source => {
  const filter = withoutParked(record, record.filter && compileFilter(record.filter));
  return {
    read: (next, limit) => {
      const page = readAllPage(store, { from: next, backwards: false, limit, filter });
      return {
        events: page.records.map((event) => ({
          ...resolveLink(store, event, record.settings.resolveLinks),
          place: event.position,
        })),
        next: page.reached === undefined ? next : page.reached + 1n,
        atEnd: page.end,
      };
    },
    last: () => store.lastRecord()?.position ?? -1n,
  };
};

/** The event source of a group. */
export const sourceOf = (store: LogStore, record: GroupRecord, now: () => number): Source =>
  record.source === ALL ? allSource(store, record) : streamSource(store, record, now);
