import type { LogStore } from '../log/log-store.js';
import type { StoredRecord } from '../log/record.js';
import type { EventFilter } from './filter.js';
import { PAGE_BYTES, PAGE_EVENTS } from './stream-page.js';

export interface AllPage {
  readonly records: readonly StoredRecord[];
  /** Events looked at, matching or not. */
  readonly considered: number;
  /** Position of the last event looked at; undefined when there was none. */
  readonly reached: bigint | undefined;
  /** Whether the log ended here. */
  readonly end: boolean;
}

export interface AllPageOptions {
  /** First position looked at, inclusive, in either direction. */
  readonly from: bigint;
  readonly backwards: boolean;
  /** Matching events wanted at most. */
  readonly limit: number;
  /** Events looked at, at most; PAGE_EVENTS if undefined. */
  readonly consider?: number;
  readonly filter?: EventFilter | undefined;
}

/** The next events of the whole log that match a filter. */
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
