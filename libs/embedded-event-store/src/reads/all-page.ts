import type { LogStore } from '../log/log-store.js';
import type { StoredRecord } from '../log/record.js';
import type { EventFilter } from './filter.js';
import { PAGE_BYTES, PAGE_EVENTS } from './stream-page.js';

export interface AllPage {
  readonly records: readonly StoredRecord[];
  /** Number of events scanned, matching or not. */
  readonly considered: number;
  /** Position of the last event scanned; undefined if there was none. */
  readonly reached: bigint | undefined;
  /** Whether the page reached the end of the log. */
  readonly end: boolean;
}

export interface AllPageOptions {
  /** First position to scan, inclusive, in either direction. */
  readonly from: bigint;
  readonly backwards: boolean;
  /** Maximum number of matching events. */
  readonly limit: number;
  /** Maximum number of events to scan; PAGE_EVENTS by default. */
  readonly consider?: number;
  readonly filter?: EventFilter | undefined;
}

/** The next page of the log's events that match a filter. */
export const readAllPage = (store: LogStore, options: AllPageOptions): AllPage => {
  const { from, backwards, limit, filter } = options;
  const consider = Math.min(options.consider ?? PAGE_EVENTS, PAGE_EVENTS);
  const records: StoredRecord[] = [];
  let considered = 0;
  let bytes = 0;
  let reached: bigint | undefined;
  for (const record of store.records({ from, limit: consider, backwards })) {
    considered++;
    reached = record.position;
    if (filter && !filter(record)) continue;
    records.push(record);
    bytes += record.bytes.length;
    if (records.length >= limit || bytes >= PAGE_BYTES) return { records, considered, reached, end: false };
  }
  return { records, considered, reached, end: considered < consider };
};
