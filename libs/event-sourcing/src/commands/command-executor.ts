import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import {
  isSetAside,
  type EventToAppend,
  type EventMetadata,
  type Recorded,
  type StoredEvent,
} from '../core/event.js';
import { StoreUnavailable, WrongExpectedRevision } from '../store/errors.js';
import type { AppendResult, EventStore, ExpectedRevision } from '../store/event-store.js';
import { instant, ClockUntrusted } from '../core/clock.js';
import type { RequestContext } from '../core/request-context.js';
import {
  encode,
  CorruptEvent,
  decode,
  requireWorkspace,
  type EventCatalogue,
  type EventOf,
} from '../core/event-catalogue.js';
import { eventId } from '../core/event-id.js';
import { CHAIN_START, chainedFacts, continuesChain, nextChain } from '../core/hash-chain.js';
import type { Decider, Rejection } from '../core/decider.js';
import { LRUCache } from 'lru-cache';
import { streamName } from '../core/stream-name.js';
import { currentTraceparent, inSpan, isTracing } from '../tracing/tracing.js';

/** What a caller waits for an append while the store fails (ms). Clients of the API wait longer for an answer. */
const CALLERS_TIME_MS = 3_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 400;

/** After this time (ms) without a failure, a new one is another fault. */
const FORGOTTEN_AFTER_MS = 30_000;

/** The appends of a store that had unknown outcomes, without an answer in between, by a monotonic clock (ms). */
const failing = new WeakMap<EventStore, { readonly since: number; readonly last: number }>();

/**
 * Repeats an append of unknown outcome with the same ids at the same revision, within the caller's time: the answer
 * settles the outcome. The store drops an append while another process appends the same event, and stores end calls when
 * they stop or elect a leader. Once appends have failed for longer than that, each is repeated once only, so that callers
 * do not pile up.
 * @throws WrongExpectedRevision when another event stands there
 * @throws StoreUnavailable
 */
export const appendWithRetry = async (
  store: EventStore,
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
  callersTimeMs = CALLERS_TIME_MS,
): Promise<AppendResult> => {
  let pauseMs = FIRST_PAUSE_MS;
  let unknown: StoreUnavailable | null = null;
  for (let attempt = 1; ; attempt += 1) {
    const begunAt = performance.now();
    try {
      const result = await store.append(stream, expected, events);
      failing.delete(store);
      return result;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        failing.delete(store);
        throw error;
      }
      // A repeat that did not reach the store says nothing of the attempt before it.
      unknown = error.outcomeUnknown ? error : unknown;
      if (unknown === null) throw error;
      const known = failing.get(store);
      const since = known && begunAt - known.last < FORGOTTEN_AFTER_MS ? known.since : begunAt;
      const last = performance.now();
      failing.set(store, { since, last });
      if (attempt > 1 && last - since >= callersTimeMs) throw unknown;
    }
    await delay(pauseMs * Math.random());
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }
};

/** The first pause between two reads, the longest, and all of them together (ms). */
const FIRST_LOOK_MS = 10;
const MAX_LOOK_MS = 320;
const LOOKS_MS = 2_000;

/**
 * Reads a stream after a conflict. A cluster's leader refuses an append because of a rival's that no quorum has yet, and
 * reads do not show that one. They are repeated with growing pauses until they show more, for 2 s of pauses at most.
 */
export const readPastRival = async <T extends { readonly revision: ExpectedRevision }>(
  { expected, actual }: WrongExpectedRevision,
  read: () => Promise<T>,
): Promise<T> => {
  let [longestMs, pausedMs] = [FIRST_LOOK_MS, 0];
  for (;;) {
    const found = await read();
    if (found.revision !== expected || !isAhead(actual, expected) || pausedMs >= LOOKS_MS) return found;
    const pauseMs = longestMs * (0.5 + Math.random() / 2);
    await delay(pauseMs);
    pausedMs += pauseMs;
    longestMs = Math.min(MAX_LOOK_MS, 2 * longestMs);
  }
};

/** Whether a stream at one revision has more events than at the other. */
export const isAhead = (one: ExpectedRevision, other: ExpectedRevision): boolean =>
  one !== 'no_stream' && (other === 'no_stream' || one > other);

/** Who sends the command, when, and the name that identifies a retry of the same command. */
export interface CommandContext {
  /** The same for every retry of one command, different for any other: event ids are derived from it. */
  readonly intent: string;
  readonly by: RequestContext;
  readonly workspaceId: string;
  /** When the decision is taken, milliseconds since the epoch. */
  readonly at: number;
}

/** What the executor knows of an event's metadata before the event is encoded. */
export type Metadata = Omit<EventMetadata, 'schemaVersion' | 'chain'>;

/** @param actorFirst the order of members that some streams have stored from the start */
export const metadataOf = ({ by, workspaceId, at }: CommandContext, actorFirst = false): Metadata => ({
  ...(actorFirst && { actor: by.actor }),
  correlationId: by.correlationId,
  causationId: by.causationId,
  workspaceId,
  actor: by.actor,
  occurredAt: instant(at),
});

/** Where an event is to stand, and which command it comes from. */
interface Place {
  readonly stream: string;
  readonly revision: bigint;
  readonly intent: string;
  readonly metadata: Metadata;
  /** Its index among the events of one decision. */
  readonly index: number;
  /** The end of the stream's hash chain; `null` for a stream without one. */
  readonly previousChain: string | null;
}

/**
 * Encodes a decided event and derives its id: the same for every retry of the same decision. `bytes`: roughly those of
 * its data.
 */
export const prepareEvent = <Cat extends EventCatalogue>(
  catalogue: Cat,
  { type, data }: EventOf<Cat>,
  { stream, revision, intent, metadata: known, index, previousChain }: Place,
): { readonly event: EventToAppend & Recorded; readonly bytes: number } => {
  const encoded = encode(catalogue, type, data);
  // The store answers success for an event id that it already holds. The facts are part of the id, so that two processes
  // with one intent, each at its own time, conflict: the stored event is the accepted one.
  const facts = `${intent}|${known.occurredAt}|${JSON.stringify(encoded.data)}`;
  const event = {
    id: eventId(stream, facts, index),
    type,
    data: encoded.data,
    metadata: { ...known, schemaVersion: encoded.version } as EventMetadata & { chain?: string },
    stream,
    revision,
    position: 0n,
  };
  if (previousChain !== null) event.metadata.chain = nextChain(previousChain, chainedFacts(event));
  return { event, bytes: Buffer.byteLength(facts) };
};

/** A folded stream: its state, the revision of its last event, and the end of its hash chain. */
export interface Folded<S> {
  state: S;
  revision: ExpectedRevision;
  chain: string;
  /** When its last event happened, and when the store recorded it (ms since the epoch; unknown: Infinity). */
  last: { readonly occurredAt: number; readonly recordedAt: number } | null;
  /** Of its events; empty before the first. */
  workspaceId: string;
}

/** An event type that carries the whole folded state: reading a stream goes back to it and no further. */
export interface Checkpoint<E, S> {
  readonly type: string;
  /** A state that is too large for one event: parts of it are in events of this type, right before the checkpoint. */
  readonly parts?: {
    readonly type: string;
    /** Number of parts that a checkpoint has. */
    readonly countOf: (checkpoint: E) => number;
    /** Whether the parts in this state, which was folded up to the checkpoint, are those that it names. */
    readonly areThose: (event: E, before: S) => boolean;
  };
}

/** Events of a stream in memory at a time: some 15 MB. */
const MAX_HELD = 10_000;

/** Reads a stream and folds its events with the decider. */
export class StreamFolder<Cat extends EventCatalogue, S> {
  constructor(
    private readonly store: EventStore,
    private readonly catalogue: Cat,
    private readonly decider: Pick<Decider<never, EventOf<Cat>, S, Rejection>, 'initialState' | 'evolve'>,
    private readonly checkpoint?: Checkpoint<EventOf<Cat>, S>,
  ) {}

  empty(): Folded<S> {
    return {
      state: this.decider.initialState,
      revision: 'no_stream',
      chain: CHAIN_START,
      last: null,
      workspaceId: '',
    };
  }

  /**
   * Folds the events since `known`; without it, those since the last checkpoint event.
   * @throws CorruptEvent also for a checkpoint without its parts
   */
  async read(stream: string, known: Folded<S> | null): Promise<Folded<S>> {
    let loaded = known ?? this.empty();
    const events = known ? this.store.read(stream, { from: following(known) }) : await this.begin(stream);
    for await (const stored of events) loaded = this.evolve(loaded, stored);
    return loaded;
  }

  /**
   * The last checkpoint with its parts, and the events after it. They are read backwards; where there are more of them than
   * may be held, only their beginning is kept, and they are read again.
   */
  private async begin(stream: string): Promise<AsyncIterable<StoredEvent> | Iterable<StoredEvent>> {
    if (!this.checkpoint) return this.store.read(stream, { from: 0n });
    const { type, parts } = this.checkpoint;
    let held: StoredEvent[] | null = [];
    let first = 0n;
    let missing: number | null = null;
    for await (const stored of this.store.read(stream, { direction: 'backwards' })) {
      const counts = !isSetAside(stored);
      if (missing !== null && counts && stored.type !== parts?.type) break;
      first = stored.revision;
      if (held && held.push(stored) > MAX_HELD) held = null;
      if (!counts) continue;
      if (missing !== null) missing -= 1;
      else if (stored.type === type) missing = parts?.countOf(decode(this.catalogue, stored)) ?? 0;
      if (missing === 0) break;
    }
    return held?.reverse() ?? this.store.read(stream, { from: first });
  }

  private evolve(loaded: Folded<S>, stored: StoredEvent): Folded<S> {
    const { revision, metadata } = stored;
    if (isSetAside(stored))
      return {
        ...loaded,
        revision,
        chain: continuesChain(loaded.chain, stored) ? metadata.chain! : loaded.chain,
      };
    const event = decode(this.catalogue, stored);
    requireWorkspace(stored, loaded.workspaceId);
    const { checkpoint } = this;
    if (
      checkpoint &&
      stored.type === checkpoint.type &&
      checkpoint.parts?.areThose(event, loaded.state) === false
    )
      throw new CorruptEvent(stored, 'the events before it are not the parts that it names');
    return {
      ...loaded,
      state: this.decider.evolve(loaded.state, event),
      revision,
      workspaceId: metadata.workspaceId,
      chain: metadata.chain ?? loaded.chain,
      last: { occurredAt: Date.parse(metadata.occurredAt), recordedAt: stored.recordedAt ?? Infinity },
    };
  }
}

const following = ({ revision }: Folded<unknown>): bigint => (revision === 'no_stream' ? 0n : revision + 1n);

/** The pause after a conflict, or after reading events of other writers. */
const EXPECT_RIVALS_MS = 5_000;
/** Appends between two pauses of a process that has met no others. */
const BETWEEN_PAUSES = 32;
const MAX_APPEND_MS = 50;
/** The time of an append is averaged over about as many. */
const APPENDS_AVERAGED = 8;

/**
 * Paces the appends of a process to a stream that other processes write too. A process that never pauses would win every
 * append to a hot stream, because it need not read what it wrote itself. While others write, each process waits about as
 * long as a read and an append of another take, so that all make progress. To notice others at all, it pauses
 * sometimes for as long as a read and an append take. A rival that has just lost tries again at once, or nearly so, and one
 * of its tries begins and ends within that pause.
 */
class AppendPacing {
  private contendedUntil = 0;
  private appendMs = 5;
  private startedAt = 0;
  private sincePause = 0;

  /** Whether others write to the stream, so that it is read before deciding, and how long to wait (ms). */
  approach(): { readonly contended: boolean; readonly pauseMs: number } {
    if (performance.now() < this.contendedUntil)
      return { contended: true, pauseMs: this.turnMs * Math.random() };
    this.sincePause += 1;
    if (this.sincePause < BETWEEN_PAUSES) return { contended: false, pauseMs: 0 };
    this.sincePause = 0;
    return { contended: false, pauseMs: this.turnMs };
  }

  /**
   * Milliseconds before the next try after a conflict. Every other try goes at once: a single node answers a conflict
   * when the rival's append is durable, and so before the rival's next one. The others are spread, so that rivals part.
   * @param attempt from 1
   */
  pauseAfterConflict(attempt: number): number {
    return attempt % 2 === 1 ? 0 : this.turnMs * Math.random();
  }

  begin(): void {
    this.startedAt = performance.now();
  }

  /** An append succeeded. */
  end(): void {
    const took = Math.min(MAX_APPEND_MS, performance.now() - this.startedAt);
    this.appendMs += (took - this.appendMs) / APPENDS_AVERAGED;
  }

  sawRivals(): void {
    this.contendedUntil = performance.now() + EXPECT_RIVALS_MS;
  }

  /** What a read and an append of another process take, if they take as long as ours. */
  private get turnMs(): number {
    return 2 * this.appendMs;
  }
}

/**
 * Most bytes of one append, with about METADATA_BYTES for each event beside its data. EventStoreDB refuses more than
 * 1 MiB. A decision that is larger by itself is appended alone: the store answers it.
 */
const MAX_BYTES = 1_000_000;
const METADATA_BYTES = 500;

export type Outcome<E, S, R extends Rejection> =
  | {
      readonly kind: 'accepted';
      readonly events: readonly Recorded<E & { type: string; data: unknown }>[];
      readonly state: S;
    }
  | { readonly kind: 'ignored'; readonly reason: string; readonly state: S }
  | ({ readonly kind: 'rejected'; readonly state: S } & R);

/** A command that waits for its stream. */
export interface Waiting<C, E, S, R extends Rejection> {
  readonly command: C;
  readonly intent: string;
  readonly metadata: Metadata;
  /** Decide on the empty stream first: for a new id, reading would find nothing. */
  readonly fresh: boolean;
  readonly resolve: (outcome: Outcome<E, S, R>) => void;
  readonly reject: (error: unknown) => void;
}

interface Decided<S> {
  /** Of the commands from the first on: the others do not fit the append. */
  readonly commands: number;
  readonly events: readonly (EventToAppend & Recorded)[];
  /** Answers the callers, after the append. */
  readonly settle: readonly (() => void)[];
  readonly loaded: Folded<S>;
}

/**
 * A writer whose clock was ahead dated events later than the store recorded them. Beyond the bound, the record time
 * counts, so that one such writer does not stop the others.
 * @throws ClockUntrusted
 */
const dated = <S>(
  metadata: Metadata,
  last: Folded<S>['last'],
  { datesAscend }: Pick<ExecutorOptions, 'datesAscend'>,
): Metadata => {
  if (!datesAscend || !last) return metadata;
  const lastAt = Math.min(last.occurredAt, last.recordedAt + datesAscend.withinMs);
  const behindMs = lastAt - Date.parse(metadata.occurredAt);
  if (!(behindMs > 0)) return metadata;
  if (behindMs > datesAscend.withinMs)
    throw new ClockUntrusted(`this process is ${behindMs} ms behind the last event of the stream`);
  return { ...metadata, occurredAt: instant(lastAt) };
};

const nextRevision = (last: ExpectedRevision, offset: number): bigint =>
  (last === 'no_stream' ? 0n : last + 1n) + BigInt(offset);

export interface ExecutorOptions<E = unknown, S = unknown> {
  /** Streams whose folded state is kept between commands. 0 reads the stream for each command. */
  readonly cachedStreams?: number;
  /** Commands decided on one fold and appended in one call when they wait for the same stream. */
  readonly batchSize?: number;
  /** Attempts after a conflict before the command fails as unavailable. */
  readonly attempts?: number;
  /** Adds a hash chain to the metadata of every event. */
  readonly chained?: boolean;
  /** Stores `actor` as the first member of the metadata, as streams do that have done so from the start. */
  readonly actorFirst?: boolean;
  /**
   * Dates no event before the last one of its stream. A clock that is behind by up to `withinMs` takes that event's
   * date; beyond, the command fails with ClockUntrusted.
   */
  readonly datesAscend?: { readonly withinMs: number };
  readonly checkpoint?: Checkpoint<E, S>;
}

/** Lets another process, which does not know of its rival yet, come to two or three of its pauses. */
const ATTEMPTS = 64;
/** Streams for which the executor remembers other writers. */
const PACED_STREAMS = 1_000;

/**
 * Runs a decider on its streams: load, fold, decide, append at the revision seen, and decide again when another writer
 * was first. Commands that wait for the same stream are decided together on one fold and appended in one call, so that
 * a hot stream costs one append per batch, not one per command. Between processes the expected revision is the arbiter.
 */
export class CommandExecutor<C, Cat extends EventCatalogue, S, R extends Rejection> {
  private readonly queues = new Map<string, Waiting<C, EventOf<Cat>, S, R>[]>();
  private readonly cache: LRUCache<string, Folded<S>> | null;
  /** Streams that are being read from their start. */
  private readonly coldReads = new Map<string, Promise<Folded<S>>>();
  private readonly pacing = new LRUCache<string, AppendPacing>({ max: PACED_STREAMS });
  private readonly streams: StreamFolder<Cat, S>;
  private readonly batchSize: number;
  private readonly attempts: number;

  constructor(
    private readonly store: EventStore,
    private readonly catalogue: Cat,
    private readonly decider: Decider<C, EventOf<Cat>, S, R>,
    private readonly options: ExecutorOptions<NoInfer<EventOf<Cat>>, NoInfer<S>> = {},
  ) {
    this.cache = options.cachedStreams ? new LRUCache({ max: options.cachedStreams }) : null;
    this.streams = new StreamFolder(store, catalogue, decider, options.checkpoint);
    this.batchSize = options.batchSize ?? 64;
    this.attempts = options.attempts ?? ATTEMPTS;
  }

  /**
   * @param id the stream's id without its category
   * @throws StoreUnavailable when the store is unavailable or every attempt met a conflict
   */
  execute(
    id: string,
    command: C,
    context: CommandContext,
    { fresh = false }: { fresh?: boolean } = {},
  ): Promise<Outcome<EventOf<Cat>, S, R>> {
    const stream = streamName(this.catalogue.category, id);
    const { intent } = context;
    const metadata = metadataOf(context, this.options.actorFirst);
    if (!isTracing()) return this.enqueue(stream, { command, intent, metadata, fresh });
    const name = `decide ${(command as { type?: string }).type ?? this.catalogue.category}`;
    return inSpan(name, { attributes: { 'event_store.stream': stream } }, () => {
      const traceparent = currentTraceparent();
      const traced = { ...metadata, ...(traceparent && { traceparent }) };
      return this.enqueue(stream, { command, intent, metadata: traced, fresh });
    });
  }

  /**
   * The folded state of a stream and its revision, as the store has them now. Of a stream that is kept, only what came
   * since is read.
   */
  async load(id: string): Promise<{ state: S; revision: ExpectedRevision }> {
    const stream = streamName(this.catalogue.category, id);
    return this.read(stream, this.cache?.get(stream) ?? null);
  }

  /**
   * Reads what came since, and holds it at once: the fold of a long stream outlives a command that fails. Nobody reads a
   * stream from its start while another does: who comes later waits, and then reads what came since.
   */
  private async read(stream: string, known: Folded<S> | null): Promise<Folded<S>> {
    const underWay = known === null ? this.coldReads.get(stream) : undefined;
    if (underWay) return this.read(stream, await underWay);
    const reading = this.streams.read(stream, known);
    if (known === null) this.coldReads.set(stream, reading);
    const loaded = await reading.finally(() => known === null && this.coldReads.delete(stream));
    // Another command may have gone further meanwhile.
    if (isNewer(loaded, this.cache?.get(stream))) this.cache?.set(stream, loaded);
    return loaded;
  }

  private enqueue(
    stream: string,
    asked: Omit<Waiting<C, EventOf<Cat>, S, R>, 'resolve' | 'reject'>,
  ): Promise<Outcome<EventOf<Cat>, S, R>> {
    return new Promise((resolve, reject) => {
      const waiting = { ...asked, resolve, reject };
      const queue = this.queues.get(stream);
      if (queue) queue.push(waiting);
      else {
        this.queues.set(stream, [waiting]);
        void this.drain(stream);
      }
    });
  }

  private async drain(stream: string): Promise<void> {
    const queue = this.queues.get(stream)!;
    while (queue.length > 0) {
      // Callers that just got an answer may send their next command within this event-loop turn, and join the batch.
      await nextTurn();
      const batch = queue.splice(0, this.batchSize);
      try {
        queue.unshift(...batch.slice(await this.run(stream, batch)));
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    this.queues.delete(stream);
  }

  /** @returns how many commands were carried out: the others do not fit the same append */
  private async run(stream: string, batch: readonly Waiting<C, EventOf<Cat>, S, R>[]): Promise<number> {
    const pacing = this.pacing.get(stream) ?? new AppendPacing();
    this.pacing.set(stream, pacing);
    const { contended, pauseMs } = pacing.approach();
    if (pauseMs > 0) await delay(pauseMs);
    pacing.begin();
    const remembered = this.cache?.get(stream) ?? null;
    const fresh = batch.every((waiting) => waiting.fresh);
    let loaded = remembered ?? (fresh ? this.streams.empty() : await this.read(stream, null));
    let certain = !remembered && !fresh;
    if (remembered && contended) {
      loaded = await this.read(stream, remembered);
      certain = true;
      if (loaded.revision !== remembered.revision) pacing.sawRivals();
    }
    for (let attempt = 1; ; attempt += 1) {
      let decided = this.decide(stream, batch, loaded);
      if (!certain && decided.events.length === 0) {
        // Without an append, no expected revision reveals that the cached state is out of date.
        loaded = await this.read(stream, loaded);
        decided = this.decide(stream, batch, loaded);
      }
      try {
        if (decided.events.length > 0) {
          const { revision, position } = await this.appendTraced(stream, loaded.revision, decided.events);
          const first = revision - BigInt(decided.events.length - 1);
          decided.events.forEach((event, index) => {
            Object.assign(event, { revision: first + BigInt(index), position });
          });
          decided.loaded.revision = revision;
          pacing.end();
        }
        this.cache?.set(stream, decided.loaded);
        for (const settle of decided.settle) settle();
        return decided.commands;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        if (attempt >= this.attempts) {
          throw new StoreUnavailable(`${stream} is too busy: ${attempt} appends met a conflict`, false, {
            cause: error,
          });
        }
        pacing.sawRivals();
        await delay(pacing.pauseAfterConflict(attempt));
        pacing.begin();
        loaded = await this.readOn(stream, loaded, error);
        // The rival's event may be lost: one more append shows it.
        if (loaded.revision === error.expected) attempt = this.attempts - 1;
        certain = true;
      }
    }
  }

  private readOn(stream: string, loaded: Folded<S>, conflict: WrongExpectedRevision): Promise<Folded<S>> {
    const isLonger = isAhead(conflict.expected, conflict.actual);
    // The store lacks events of this fold: it was restored from a copy.
    if (isLonger) this.cache?.delete(stream);
    return readPastRival(conflict, () => this.read(stream, isLonger ? null : loaded));
  }

  /** Decides commands one after another, each on the state after those before it. Appends nothing. */
  private decide(
    stream: string,
    batch: readonly Waiting<C, EventOf<Cat>, S, R>[],
    from: Folded<S>,
  ): Decided<S> {
    let { state, chain, last } = from;
    const events: (EventToAppend & Recorded)[] = [];
    const settle: (() => void)[] = [];
    let bytes = 0;
    for (const [index, asked] of batch.entries()) {
      const { resolve, reject } = asked;
      try {
        const decision = this.decider.decide(asked.command, state);
        if (decision.kind === 'ignore') {
          const outcome = { kind: 'ignored', reason: decision.reason, state } as const;
          settle.push(() => resolve(outcome));
        } else if (decision.kind === 'reject') {
          const outcome = { ...(decision as unknown as R), kind: 'rejected', state } as const;
          settle.push(() => resolve(outcome));
        } else {
          // Kept apart until the decision is complete: one that fails half way leaves no trace.
          const own: (EventToAppend & Recorded)[] = [];
          let ownBytes = 0;
          const metadata = dated(asked.metadata, last, this.options);
          let after = { state, chain };
          for (const domainEvent of decision.events) {
            const prepared = prepareEvent(this.catalogue, domainEvent, {
              stream,
              revision: nextRevision(from.revision, events.length + own.length),
              intent: asked.intent,
              metadata,
              index: own.length,
              previousChain: this.options.chained ? after.chain : null,
            });
            after = {
              state: this.decider.evolve(after.state, domainEvent),
              chain: prepared.event.metadata.chain ?? after.chain,
            };
            own.push(prepared.event);
            ownBytes += prepared.bytes + METADATA_BYTES;
          }
          if (events.length > 0 && bytes + ownBytes > MAX_BYTES)
            return { commands: index, events, settle, loaded: { ...from, state, chain, last } };
          bytes += ownBytes;
          ({ state, chain } = after);
          last = { occurredAt: Date.parse(metadata.occurredAt), recordedAt: Infinity };
          events.push(...own);
          const outcome = { kind: 'accepted', events: own as never[], state } as const;
          settle.push(() => resolve(outcome));
        }
      } catch (error) {
        settle.push(() => reject(error));
      }
    }
    return { commands: batch.length, events, settle, loaded: { ...from, state, chain, last } };
  }

  /** The span is a child of the first command's span and links to those of the others. */
  private appendTraced(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    if (!isTracing()) return appendWithRetry(this.store, stream, expected, events);
    const [parent, ...links] = new Set(events.map(({ metadata }) => metadata.traceparent));
    const attributes = { 'event_store.stream': stream, 'event.types': events.map(({ type }) => type) };
    return inSpan(`append to ${this.catalogue.category}`, { parent, links, attributes }, () =>
      appendWithRetry(this.store, stream, expected, events),
    );
  }
}

const isNewer = (one: Folded<unknown>, other: Folded<unknown> | undefined): boolean =>
  one.revision !== 'no_stream' && (!other || isAhead(one.revision, other.revision));
