import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerContext } from '../grpc/context.js';
import type { Outlet } from '../grpc/outlet.js';
import type { ReadRequest } from '../grpc/read-request.js';
import { streamDeleted } from '../grpc/rpc-error.js';
import { MAX_UINT64 } from '../log/keys.js';
import { FIRST_POSITION } from '../log/log-store.js';
import { encodeStreamNotFound } from '../wire/read-response.js';
import { readAllPage } from './all-page.js';
import { deliver } from './deliver.js';
import { readStreamPage, streamStatus } from './stream-page.js';

/**
 * Reads a stream page by page: the visible events from a revision on, inclusive.
 * @throws {RpcError} when the stream is tombstoned
 */
export const readStream = async (
  { store, now }: ServerContext,
  request: ReadRequest & { readonly stream: string },
  outlet: Outlet,
): Promise<void> => {
  const { stream, backwards } = request;
  const status = streamStatus(store, stream);
  if (status.kind === 'tombstoned') throw streamDeleted(stream);
  if (status.kind === 'not-found') {
    await outlet.send(encodeStreamNotFound(stream));
    return;
  }
  const { head } = status;
  let left = request.limit ?? 0;
  let next: bigint | undefined = boundary(request.from, 0n, head.last);
  while (next !== undefined && left > 0 && !outlet.closed) {
    const page = readStreamPage(store, head, { from: next, limit: left, backwards, now: now() });
    await deliver(store, page.records, request, outlet);
    left -= page.records.length;
    next = page.next;
    await nextTurn();
  }
};

/**
 * Reads $all. A forward read includes the event at the start position; a backward read excludes it. In
 * EventStoreDB, too, a backward position lies behind an event and marks the end of the range.
 */
export const readAll = async (
  { store }: ServerContext,
  request: ReadRequest,
  outlet: Outlet,
): Promise<void> => {
  const { backwards, filter } = request;
  let left = request.limit ?? 0;
  let next = boundary(request.from, FIRST_POSITION, MAX_UINT64);
  if (backwards && typeof request.from === 'bigint') next -= 1n;
  while (left > 0 && !outlet.closed && next >= FIRST_POSITION) {
    const page = readAllPage(store, { from: next, backwards, limit: left, filter: filter?.matches });
    await deliver(store, page.records, request, outlet);
    left -= page.records.length;
    if (page.end || page.reached === undefined) return;
    next = page.reached + (backwards ? -1n : 1n);
    await nextTurn();
  }
};

/** The start of a read, clamped to the 64 bits of a key. */
const boundary = (from: ReadRequest['from'], start: bigint, end: bigint): bigint => {
  if (from === 'start') return start;
  if (from === 'end') return end;
  return from < start ? start : from;
};
