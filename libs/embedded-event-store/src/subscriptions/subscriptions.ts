import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerContext } from '../grpc/context.js';
import type { Outlet } from '../grpc/outlet.js';
import type { ReadRequest } from '../grpc/read-request.js';
import { streamDeleted } from '../grpc/rpc-error.js';
import { MAX_UINT64 } from '../log/keys.js';
import { FIRST_POSITION, type LogStore } from '../log/log-store.js';
import { readAllPage } from '../reads/all-page.js';
import { deliver } from '../reads/deliver.js';
import { PAGE_EVENTS, readStreamPage, streamStatus, type StreamPage } from '../reads/stream-page.js';
import { DELETED_STREAM } from '../streams/stream-head.js';
import { encodeCaughtUp, encodeCheckpoint } from '../wire/read-response.js';

/*
 * A subscription is one loop over pages of the durable log. After an empty page it has caught up and waits
 * for the next commit. There is no separate live path, so no event can be lost between history and live. The
 * read and the start of the wait happen in the same event-loop turn, so no commit falls between them.
 */

/** The first revision or position to send, for a subscription that starts after `from`. */
const following = (from: bigint): bigint => (from >= MAX_UINT64 ? MAX_UINT64 : from + 1n);

const NOTHING: StreamPage = { records: [], next: undefined };

const firstRevision = (store: LogStore, stream: string, from: ReadRequest['from']): bigint => {
  if (from === 'start') return 0n;
  return from === 'end' ? following(store.head(stream)?.last ?? -1n) : following(from);
};

/**
 * Follows a stream after a revision (exclusive), even if the stream does not exist yet.
 * @throws {RpcError} when the stream is or becomes tombstoned
 */
export const subscribeToStream = async (
  { store, signal, now }: ServerContext,
  request: ReadRequest & { readonly stream: string },
  outlet: Outlet,
): Promise<void> => {
  const { stream } = request;
  let next = firstRevision(store, stream, request.from);
  let live = false;
  while (!outlet.closed) {
    const status = streamStatus(store, stream);
    if (status.kind === 'tombstoned') throw streamDeleted(stream);
    const options = { from: next, limit: PAGE_EVENTS, backwards: false, now: now() };
    const page =
      status.kind === 'found' && next < DELETED_STREAM
        ? readStreamPage(store, status.head, options)
        : NOTHING;
    await deliver(store, page.records, request, outlet);
    const last = page.records.at(-1);
    const reached = page.next ?? (last && last.revision + 1n);
    if (reached !== undefined) {
      next = reached;
      await nextTurn();
    } else if (!live) {
      live = true;
      await outlet.send(encodeCaughtUp());
    } else {
      await outlet.wait((wake) => signal.once(stream, wake));
    }
  }
};

const firstPosition = (store: LogStore, from: ReadRequest['from']): bigint => {
  if (from === 'start') return FIRST_POSITION;
  return following(from === 'end' ? (store.lastRecord()?.position ?? 0n) : from);
};

/**
 * Follows $all after a position (exclusive). With a filter, sends the position reached as a checkpoint after
 * every `checkpointEvery` scanned events. A checkpoint never lies beyond a matching event that was not sent
 * yet.
 */
export const subscribeToAll = async (
  { store, signal }: ServerContext,
  request: ReadRequest,
  outlet: Outlet,
): Promise<void> => {
  const { filter } = request;
  const every = filter?.checkpointEvery ?? Infinity;
  let next = firstPosition(store, request.from);
  let sinceCheckpoint = 0;
  let live = false;
  while (!outlet.closed) {
    const page = readAllPage(store, {
      from: next,
      backwards: false,
      limit: PAGE_EVENTS,
      consider: every - sinceCheckpoint,
      filter: filter?.matches,
    });
    await deliver(store, page.records, request, outlet);
    if (page.reached !== undefined) {
      next = page.reached + 1n;
      sinceCheckpoint += page.considered;
      if (sinceCheckpoint >= every) {
        sinceCheckpoint = 0;
        await outlet.send(encodeCheckpoint(page.reached));
      }
      await nextTurn();
    } else if (!live) {
      live = true;
      await outlet.send(encodeCaughtUp());
    } else {
      await outlet.wait((wake) => signal.once(undefined, wake));
    }
  }
};
