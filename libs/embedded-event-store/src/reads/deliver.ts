import type { Outlet } from '../grpc/outlet.js';
import type { ReadRequest } from '../grpc/read-request.js';
import type { LogStore } from '../log/log-store.js';
import type { StoredRecord } from '../log/record.js';
import { encodeReadEvent } from '../wire/read-response.js';
import { resolveLink } from './resolve-link.js';

/** Sends a page of events at the receiver's pace, until the call ends. */
export const deliver = async (
  store: LogStore,
  records: readonly StoredRecord[],
  { resolveLinks, structuredIds }: ReadRequest,
  outlet: Outlet,
): Promise<void> => {
  for (const record of records) {
    if (outlet.closed) return;
    const answer = encodeReadEvent(resolveLink(store, record, resolveLinks), structuredIds);
    // Most events find room. Only an event that fills the buffer waits.
    if (!outlet.offer(answer)) await outlet.room();
  }
};
