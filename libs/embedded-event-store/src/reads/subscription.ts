import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerContext } from '../grpc/context.js';
import type { Outlet } from '../grpc/outlet.js';
import type { ReadRequest } from '../grpc/read.js';
import { MAX_UINT64 } from '../log/keys.js';
import { FIRST_POSITION, type LogStore } from '../log/log-store.js';
import { encodeCheckpoint } from '../wire/read-response.js';
import { deliver, PAGE_EVENTS, readAllPage } from './reads.js';

const firstPosition = (store: LogStore, from: ReadRequest['from']): bigint => {
  if (from === 'start') return FIRST_POSITION;
  const last = from === 'end' ? (store.lastRecord()?.position ?? 0n) : from;
  return last >= MAX_UINT64 ? MAX_UINT64 : last + 1n;
};

/**
 * Follows $all after a position (exclusive). With a filter, sends the position reached as a checkpoint after every
 * `checkpointEvery` scanned events. A checkpoint never lies beyond a matching event that was not sent yet.
 *
 * It is one loop over pages of the durable log, which waits for the next commit after an empty page. There is no separate
 * live path, so no event can be lost between history and live. The read and the start of the wait happen in the same
 * event-loop turn, so no commit falls between them.
 */
export const subscribeToAll = async (
  { store, onCommit }: ServerContext,
  request: ReadRequest,
  outlet: Outlet,
): Promise<void> => {
  const { filter } = request;
  const every = filter?.checkpointEvery ?? Infinity;
  let next = firstPosition(store, request.from);
  let sinceCheckpoint = 0;
  while (!outlet.closed) {
    const page = readAllPage(store, {
      from: next,
      backwards: false,
      limit: PAGE_EVENTS,
      consider: every - sinceCheckpoint,
      filter: filter?.matches,
    });
    if (page.reached === undefined) {
      await outlet.wait(onCommit);
      continue;
    }
    await deliver(page.records, outlet);
    next = page.reached + 1n;
    sinceCheckpoint += page.considered;
    if (sinceCheckpoint >= every) {
      sinceCheckpoint = 0;
      await outlet.send(encodeCheckpoint(page.reached));
    }
    await nextTurn();
  }
};
