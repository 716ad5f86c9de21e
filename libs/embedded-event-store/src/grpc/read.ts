import streamsPb, { type ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import {
  stopping,
  toRpcError,
  streamIdentifier,
  streamName,
  invalidArgument,
  RpcError,
  type OpenCalls,
  type ServerContext,
} from './context.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DamagedDataError, describeDamage, isDamage } from '../log/environment.js';
import { MAX_UINT64, FIRST_POSITION, type LogStore } from '../log/log-store.js';
import type { StoredRecord } from '../log/record.js';
import { NO_EVENTS, type StreamHead } from '../streams/stream-head.js';
import { randomUUID } from 'node:crypto';
import { status, type handleServerStreamingCall } from '@grpc/grpc-js';

/** The part of a streaming call, one-way or duplex, that an outlet uses. */
interface SendingCall {
  write(message: Buffer): boolean;
  end(): unknown;
  emit(event: 'error', error: Error): boolean;
  on(event: 'cancelled' | 'close' | 'error' | 'drain', listener: () => void): unknown;
}

/** The sending side of a streaming call: back-pressure, cancellation, and exactly one end. */
export class Outlet {
  private ended = false;
  private readonly wakes = new Set<() => void>();
  private readonly forget: () => void;

  constructor(
    private readonly call: SendingCall,
    calls: OpenCalls,
  ) {
    this.forget = calls.add(() => {
      this.fail(stopping());
    });
    for (const event of ['cancelled', 'close', 'error'] as const) call.on(event, () => this.close());
    call.on('drain', () => this.wake());
  }

  /** Whether nothing more can be sent. */
  get closed(): boolean {
    return this.ended;
  }

  /** Sends one message. Resolves when there is room for the next one or the call has ended. */
  async send(message: Buffer | streamsPb.ReadResp): Promise<void> {
    const bytes = Buffer.isBuffer(message) ? message : Buffer.from(message.serializeBinary());
    if (!this.ended && !this.call.write(bytes)) await this.wait(() => () => undefined);
  }

  /** Resolves as soon as `subscribe` calls back, there is room to send, or the call has ended. */
  async wait(subscribe: (wake: () => void) => () => void): Promise<void> {
    if (this.ended) return;
    let withdraw = (): void => undefined;
    await new Promise<void>((resolve) => {
      this.wakes.add(resolve);
      withdraw = subscribe(resolve);
    });
    withdraw();
  }

  end(): void {
    if (this.ended) return;
    this.close();
    this.call.end();
  }

  fail(error: unknown): void {
    if (this.ended) return;
    this.close();
    this.call.emit('error', toRpcError(error));
  }

  private close(): void {
    this.ended = true;
    this.forget();
    this.wake();
  }

  private wake(): void {
    const wakes = [...this.wakes];
    this.wakes.clear();
    for (const wake of wakes) wake();
  }
}

const { ReadResp } = streamsPb;

/** Whether an event matches. */
type EventFilter = (record: StoredRecord) => boolean;

interface FilterExpression {
  readonly on: 'stream' | 'type';
  /** Empty string for none. */
  readonly regex: string;
  readonly prefixes: readonly string[];
}

/**
 * Compiles the protocol's filter. A pattern matches anywhere in the name, as in .NET's Regex.IsMatch.
 * @throws {SyntaxError} for a pattern that is not one of JavaScript's
 */
export const compileFilter = ({ on, regex, prefixes }: FilterExpression): EventFilter => {
  const value =
    on === 'stream' ? (record: StoredRecord) => record.stream : (record: StoredRecord) => record.type;
  if (prefixes.length > 0) {
    return (record) => {
      const text = value(record);
      return prefixes.some((prefix) => text.startsWith(prefix));
    };
  }
  const pattern = new RegExp(regex, 'u');
  return (record) => pattern.test(value(record));
};

/** Where a read starts: a revision, a position, or one of the two ends. */
export type ReadFrom = bigint | 'start' | 'end';

/** A filter on $all. A subscription receives a checkpoint after every `checkpointEvery` scanned events. */
export interface FilterOptions {
  readonly matches: EventFilter;
  readonly checkpointEvery: number;
}

/** A Read call, of a stream or (without `stream`) of $all. Without `limit` it is a subscription. */
export interface ReadRequest {
  readonly stream: string | undefined;
  readonly from: ReadFrom;
  readonly backwards: boolean;
  readonly limit: number | undefined;
  readonly filter: FilterOptions | undefined;
}

/** Limits of one page, in events and in bytes. After each page, other calls may proceed. */
const PAGE_EVENTS = 500;
const PAGE_BYTES = 1024 * 1024;

/** The first revision visible under `$tb` and `$maxCount`; may be beyond the last one. */
const firstVisible = ({ last, retention }: StreamHead): bigint => {
  const byCount = retention.maxCount === undefined ? 0n : last - retention.maxCount + 1n;
  const byTruncation = retention.truncateBefore ?? 0n;
  const first = byCount > byTruncation ? byCount : byTruncation;
  return first > 0n ? first : 0n;
};

interface StreamPage {
  readonly records: readonly StoredRecord[];
  /** Revision where the next page starts; undefined when nothing more is visible. */
  readonly next: bigint | undefined;
}

/** The next page of a stream's visible events in one direction. */
const readStreamPage = (
  store: LogStore,
  head: StreamHead,
  { from, backwards, limit: most }: { from: bigint; backwards: boolean; limit: number },
): StreamPage => {
  const first = firstVisible(head);
  const start = backwards ? (from > head.last ? head.last : from) : from < first ? first : from;
  const end = backwards ? first : head.last;
  if (backwards ? start < end : start > end) return { records: [], next: undefined };

  const limit = Math.min(most, PAGE_EVENTS);
  const records: StoredRecord[] = [];
  let bytes = 0;
  let revision = start;
  let found = false;
  for (const position of store.positions(head.number, start, end, limit)) {
    const record = store.recordAt(position);
    const expected = found ? revision + (backwards ? -1n : 1n) : record?.revision;
    if (record?.stream !== head.name || record.revision !== expected)
      throw new DamagedDataError(
        `The index of the stream ${head.name} is wrong for position ${String(position)}: the data file is damaged.`,
      );
    found = true;
    revision = record.revision;
    records.push(record);
    bytes += record.bytes.length;
    if (bytes >= PAGE_BYTES) break;
  }
  if (!found) return { records, next: undefined };
  return { records, next: revision === end ? undefined : revision + (backwards ? -1n : 1n) };
};

interface AllPage {
  readonly records: readonly StoredRecord[];
  /** Number of events scanned, matching or not. */
  readonly considered: number;
  /** Position of the last event scanned; undefined if there was none. */
  readonly reached: bigint | undefined;
  /** Whether the page reached the end of the log. */
  readonly end: boolean;
}

interface AllPageOptions {
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
const readAllPage = (store: LogStore, options: AllPageOptions): AllPage => {
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

/** Sends a page of events at the receiver's pace, until the call ends. */
const deliver = async (records: readonly StoredRecord[], outlet: Outlet): Promise<void> => {
  for (const record of records) {
    if (outlet.closed) return;
    await outlet.send(record.message);
  }
};

/** Reads a stream page by page: the visible events from a revision on, inclusive. */
export const readStream = async (
  { store }: ServerContext,
  request: ReadRequest,
  outlet: Outlet,
): Promise<void> => {
  const { stream = '', backwards } = request;
  const head = store.head(stream);
  // A stream with metadata alone has a head, too.
  if (!head || head.last === NO_EVENTS) {
    const notFound = new ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream));
    return outlet.send(new ReadResp().setStreamNotFound(notFound));
  }
  let left = request.limit ?? 0;
  let next: bigint | undefined = boundary(request.from, 0n, head.last);
  while (next !== undefined && left > 0 && !outlet.closed) {
    const page = readStreamPage(store, head, { from: next, limit: left, backwards });
    await deliver(page.records, outlet);
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
    await deliver(page.records, outlet);
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
      const at = String(page.reached);
      const checkpoint = new ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at);
      await outlet.send(new ReadResp().setCheckpoint(checkpoint));
    }
    await nextTurn();
  }
};

const DEFAULT_SEARCH_WINDOW = 32;

type Options = ReadReq.Options;

const filterOf = (options: Options): FilterOptions | undefined => {
  const filter = options.getFilter();
  if (!filter) return undefined;
  const byStream = filter.getStreamIdentifier();
  const expression = byStream ?? filter.getEventType();
  if (!expression) throw invalidArgument('The filter has no expression.');
  const window = filter.hasMax() ? filter.getMax() : DEFAULT_SEARCH_WINDOW;
  const multiplier = filter.getCheckpointintervalmultiplier();
  if (window < 1) throw invalidArgument("The filter's search window must be at least 1.");
  if (multiplier < 1 && options.hasSubscription()) {
    throw invalidArgument("The filter's checkpoint interval must be at least 1.");
  }
  try {
    const matches = compileFilter({
      on: byStream ? 'stream' : 'type',
      regex: expression.getRegex(),
      prefixes: expression.getPrefixList(),
    });
    return { matches, checkpointEvery: window * Math.max(multiplier, 1) };
  } catch (error) {
    throw error instanceof SyntaxError ? invalidArgument(error.message) : error;
  }
};

const streamFrom = (options: ReadReq.Options.StreamOptions): ReadFrom => {
  if (options.hasRevision()) return BigInt(options.getRevision());
  return options.hasEnd() ? 'end' : 'start';
};

const allFrom = (options: ReadReq.Options.AllOptions): ReadFrom => {
  const position = options.getPosition();
  if (!position) return options.hasEnd() ? 'end' : 'start';
  const commit = BigInt(position.getCommitPosition());
  return commit === MAX_UINT64 ? 'end' : commit;
};

const UNSUPPORTED =
  'The embedded event store neither resolves links nor follows single streams: follow $all.';

/** @throws {RpcError} INVALID_ARGUMENT for an unsupported request */
const parse = (request: ReadReq): ReadRequest => {
  const options = request.getOptions();
  if (!options) throw invalidArgument('The options are missing.');
  const stream = options.getStream();
  const all = options.getAll();
  if (!stream && !all) throw invalidArgument('A read must name a stream or $all.');
  if (options.getResolveLinks() || (stream && options.hasSubscription())) throw invalidArgument(UNSUPPORTED);
  const backwards = options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
  if (options.hasSubscription() && backwards) throw invalidArgument('A subscription can only read forwards.');
  return {
    stream: stream && streamName(stream.getStreamIdentifier()),
    from: stream ? streamFrom(stream) : all ? allFrom(all) : 'start',
    backwards,
    limit: options.hasSubscription() ? undefined : Number(options.getCount()),
    filter: all && filterOf(options),
  };
};

/** Read: finite reads of a stream or of $all, and subscriptions to $all. Responses are sent as encoded bytes. */
export const read =
  (context: ServerContext): handleServerStreamingCall<ReadReq, Buffer> =>
  (call) => {
    const outlet = new Outlet(call, context.calls);
    const run = async (): Promise<void> => {
      if (context.calls.stopping) throw stopping();
      const request = parse(call.request);
      if (request.limit === undefined) {
        const confirmation = new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(
          randomUUID(),
        );
        await outlet.send(new streamsPb.ReadResp().setConfirmation(confirmation));
        await subscribeToAll(context, request, outlet);
      } else await (request.stream === undefined ? readAll : readStream)(context, request, outlet);
    };
    run().then(
      () => {
        outlet.end();
      },
      (error: unknown) => {
        if (!(error instanceof RpcError)) context.report(`A read failed: ${String(error)}`);
        outlet.fail(
          isDamage(error) ? new RpcError(status.DATA_LOSS, describeDamage(context.store.file, error)) : error,
        );
      },
    );
  };
