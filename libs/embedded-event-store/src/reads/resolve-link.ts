import type { LogStore } from '../log/log-store.js';
import { RecordKind, type StoredRecord } from '../log/record.js';
import { firstVisible, streamStatus } from './stream-page.js';

/** An event as a reader receives it. With `link` but no `event`, the linked event no longer exists. */
export interface ResolvedRecord {
  readonly event?: StoredRecord | undefined;
  readonly link?: StoredRecord | undefined;
}

const TARGET = /^(\d+)@(.+)$/s;

const linkedRecord = (store: LogStore, link: StoredRecord): StoredRecord | undefined => {
  const [, digits, stream] = TARGET.exec(link.data.toString('utf8')) ?? [];
  if (digits === undefined || stream === undefined) return undefined;
  const status = streamStatus(store, stream);
  if (status.kind !== 'found') return undefined;
  const revision = BigInt(digits);
  if (revision < firstVisible(status.head) || revision > status.head.last) return undefined;
  return store.recordOf(status.head.number, revision);
};

/** If `wanted`, replaces a link (`$>`, data `revision@stream`) with the event it points to. */
export const resolveLink = (store: LogStore, record: StoredRecord, wanted: boolean): ResolvedRecord =>
  wanted && record.kind === RecordKind.Link
    ? { event: linkedRecord(store, record), link: record }
    : { event: record };
