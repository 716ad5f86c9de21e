import type { DomainEvent } from '#event-sourcing/core/event.js';
import { hash } from 'node:crypto';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { CarriedItems, CreditsEventOf } from '../contracts/events.js';

/** Bytes of metadata, type and ids that the store counts with the data of an event, at most. */
const METADATA_BYTES = 500;

/**
 * Most bytes that one decision may append. EventStoreDB refuses an append above 1 MiB.
 */
export const MOST_APPEND_BYTES = 950_000;

/** Most bytes of what is due that one decision records. The rest of an append is for the entry that was asked for. */
export const MOST_DUE_BYTES = 800_000;

/** Most bytes of the close of a month, and of each of its parts. */
export const MOST_PART_BYTES = 256_000;

/** Bytes that the store counts for these events when they are appended in one call. */
export const bytesOf = (events: readonly DomainEvent[]): number =>
  events.reduce((sum, { data }) => sum + jsonBytes(data) + METADATA_BYTES, 0);

export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

type Part = CreditsEventOf<'PeriodCarried'>['data'];
type Closed = CreditsEventOf<'PeriodClosed'>['data'];

/** The parts of a close that are recorded, while the close itself is not. */
export interface CarriedParts {
  readonly parts: number;
  readonly digest: string;
  readonly items: CarriedItems;
}

/** Bytes for the members of a part around its items. */
const MEMBERS_BYTES = 500;

export const noItems: CarriedItems = {
  openGrants: [],
  openHolds: [],
  settled: { older: [], newer: [] },
  orderRefs: [],
  adjustmentIds: [],
};

/** The items list by list. */
const listsOf = ({ settled, ...others }: CarriedItems) => ({ ...others, ...settled });

const itemsOf = ({ older, newer, ...others }: ReturnType<typeof listsOf>): CarriedItems => ({
  ...others,
  settled: { older, newer },
});

const mapLists = (change: (name: keyof ReturnType<typeof listsOf>) => readonly unknown[]): CarriedItems => {
  const lists = listsOf(noItems);
  for (const name of Object.keys(lists) as (keyof typeof lists)[]) lists[name] = change(name) as never;
  return itemsOf(lists);
};

/** The items of `all` after those of `before`: at least one, and no more than these bytes. `null`: there are none. */
export const nextItems = (
  all: CarriedItems,
  before: CarriedItems,
  mostBytes: number,
): CarriedItems | null => {
  const [lists, done] = [listsOf(all), listsOf(before)];
  let [bytes, taken, isFull] = [MEMBERS_BYTES, 0, false];
  const items = mapLists((name) => {
    const [list, start] = [lists[name], done[name].length];
    let end = start;
    for (; !isFull && end < list.length; end += 1) {
      bytes += jsonBytes(list[end]) + 1;
      isFull = bytes > mostBytes && taken > 0;
      if (isFull) break;
      taken += 1;
    }
    return list.slice(start, end);
  });
  return taken === 0 ? null : items;
};

/** As many items as a part has, out of `all`, after those of `before`: what the part must carry. */
export const sameItems = (all: CarriedItems, before: CarriedItems, part: CarriedItems): CarriedItems => {
  const [lists, done, own] = [listsOf(all), listsOf(before), listsOf(part)];
  return mapLists((name) => lists[name].slice(done[name].length, done[name].length + own[name].length));
};

/** What is carried after a part. A first part begins anew; `null` when it does not follow the one before. */
export const withPart = (before: CarriedParts | null, part: Part): CarriedParts | null => {
  const { period: _, part: index, ...items } = part;
  const known = index === 0 ? { parts: 0, digest: '', items: noItems } : before;
  if (known?.parts !== index) return null;
  const [lists, own] = [listsOf(known.items), listsOf(items)];
  return {
    parts: index + 1,
    digest: hash('sha256', known.digest + canonicalJson(part), 'hex'),
    items: mapLists((name) => [...lists[name], ...own[name]]),
  };
};

/** Whether a close names the parts that stand before it. */
export const namesParts = ({ carried }: Pick<Closed, 'carried'>, before: CarriedParts | null): boolean =>
  carried?.parts === before?.parts && carried?.digest === before?.digest;
