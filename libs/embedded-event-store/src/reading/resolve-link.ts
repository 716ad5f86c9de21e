import type { LogStore } from '../log/log-store.js';
import { RecordKind, type StoredRecord } from '../log/record.js';
import { firstVisible, streamStatus } from './stream-page.js';

/** An event as a reader gets it. With `link` and no `event`, the linked event is gone. */
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

/** Replaces a link (`$>`, data `revision@stream`) by the event it points to, when the reader asks for it. */
export const resolveLink = (store: LogStore, record: StoredRecord, wanted: boolean): ResolvedRecord =>
  wanted && record.kind === RecordKind.Link
    ? { event: linkedRecord(store, record), link: record }
    : { event: record };
