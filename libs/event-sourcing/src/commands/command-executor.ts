import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { instant, ClockUntrusted } from '../core/clock.js';
import type { Decider, Rejection } from '../core/decider.js';
import type { EventCatalogue, EventOf } from '../core/event-catalogue.js';
import type { EventToAppend, Recorded } from '../core/event.js';
import type { ExpectedRevision, EventStore } from '../store/event-store.js';
import { type Metadata, prepareEvent, metadataOf, type CommandContext } from './prepare-event.js';
import { type Folded, StreamFolder, type Checkpoint } from './stream-folder.js';
import { streamName } from '../core/stream-name.js';
import { StoreUnavailable, WrongExpectedRevision } from '../store/errors.js';
import { currentTraceparent, inSpan, isTracing } from '../tracing/tracing.js';
import { appendSurely, isAhead, readPastRival } from './append-surely.js';

/** The pause after a conflict, or after reading events of other writers. */
const EXPECT_RIVALS_MS = 5_000;
/** Appends between two pauses of a process that has met no others. */
const BETWEEN_PAUSES = 32;
const LONGEST_APPEND_MS = 50;
/** The time of an append is averaged over about as many. */
const APPENDS_AVERAGED = 8;

/** What to do before an append. */
interface Approach {
  /** Others write to the stream: read before deciding. */
  readonly contended: boolean;
  /** Milliseconds to wait. */
  readonly pauseMs: number;
}

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

  approach(): Approach {
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
    const took = Math.min(LONGEST_APPEND_MS, performance.now() - this.startedAt);
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
const MOST_BYTES = 1_000_000;
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

interface DecideOptions {
  readonly chained?: boolean;
  readonly datesAscend?: { readonly withinMs: number };
}

interface Decided<S> {
  /** Of the commands from the first on: the others do not fit the append. */
  readonly commands: number;
  readonly events: readonly (EventToAppend & Recorded)[];
  /** Answers the callers, after the append. */
  readonly settle: readonly (() => void)[];
  readonly loaded: Folded<S>;
}

/** Decides commands one after another, each on the state after those before it. Appends nothing. */
const decideBatch = <C, Cat extends EventCatalogue, S, R extends Rejection>(
  catalogue: Cat,
  decider: Decider<C, EventOf<Cat>, S, R>,
  options: DecideOptions,
  stream: string,
  batch: readonly Waiting<C, EventOf<Cat>, S, R>[],
  from: Folded<S>,
): Decided<S> => {
  let { state, chain, last } = from;
  const events: (EventToAppend & Recorded)[] = [];
  const settle: (() => void)[] = [];
  let bytes = 0;
  for (const [index, asked] of batch.entries()) {
    const { resolve, reject } = asked;
    try {
      const decision = decider.decide(asked.command, state);
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
        const metadata = dated(asked.metadata, last, options);
        let after = { state, chain };
        for (const domainEvent of decision.events) {
          const prepared = prepareEvent(catalogue, domainEvent, {
            stream,
            revision: nextRevision(from.revision, events.length + own.length),
            intent: asked.intent,
            metadata,
            index: own.length,
            previousChain: options.chained ? after.chain : null,
          });
          after = {
            state: decider.evolve(after.state, domainEvent),
            chain: prepared.event.metadata.chain ?? after.chain,
          };
          own.push(prepared.event);
          ownBytes += prepared.bytes + METADATA_BYTES;
        }
        if (events.length > 0 && bytes + ownBytes > MOST_BYTES)
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
};

/**
 * A writer whose clock was ahead dated events later than the store recorded them. Beyond the bound, the record time
 * counts, so that one such writer does not stop the others.
 * @throws ClockUntrusted
 */
const dated = <S>(metadata: Metadata, last: Folded<S>['last'], { datesAscend }: DecideOptions): Metadata => {
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
      let decided = this.decideAll(stream, batch, loaded);
      if (!certain && decided.events.length === 0) {
        // Without an append, no expected revision reveals that the cached state is out of date.
        loaded = await this.read(stream, loaded);
        decided = this.decideAll(stream, batch, loaded);
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

  private decideAll(
    stream: string,
    batch: readonly Waiting<C, EventOf<Cat>, S, R>[],
    from: Folded<S>,
  ): ReturnType<typeof decideBatch<C, Cat, S, R>> {
    return decideBatch(this.catalogue, this.decider, this.options, stream, batch, from);
  }

  /** The span is a child of the first command's span and links to those of the others. */
  private appendTraced(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    if (!isTracing()) return appendSurely(this.store, stream, expected, events);
    const [parent, ...links] = new Set(events.map(({ metadata }) => metadata.traceparent));
    const attributes = { 'event_store.stream': stream, 'event.types': events.map(({ type }) => type) };
    return inSpan(`append to ${this.catalogue.category}`, { parent, links, attributes }, () =>
      appendSurely(this.store, stream, expected, events),
    );
  }
}

const isNewer = (one: Folded<unknown>, other: Folded<unknown> | undefined): boolean =>
  one.revision !== 'no_stream' && (!other || isAhead(one.revision, other.revision));
