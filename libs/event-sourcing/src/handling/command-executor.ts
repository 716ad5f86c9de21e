import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { instant } from '../core/clock.js';
import type { Decider } from '../core/decider.js';
import type { Rejection } from '../core/decision.js';
import type { EventCatalogue, EventOf } from '../core/event-catalogue.js';
import type { EventToAppend, Recorded } from '../core/event.js';
import { streamName } from '../core/stream-name.js';
import { ClockUntrusted } from '../core/trusted-clock.js';
import { StoreUnavailable, WrongExpectedRevision } from '../store/errors.js';
import type { EventStore, ExpectedRevision } from '../store/event-store.js';
import { currentTraceparent, inSpan, isTracing } from '../tracing/tracing.js';
import { AppendPacing } from './append-pacing.js';
import { metadataOf, type CommandContext, type Metadata } from './command-context.js';
import { prepareEvent } from './prepare-event.js';
import { RecentlyUsed } from './recently-used.js';
import { StreamFolder, type Folded, type Loaded } from './stream-folder.js';

export type Outcome<E, S, R extends Rejection> =
  | {
      readonly kind: 'accepted';
      readonly events: readonly Recorded<E & { type: string; data: unknown }>[];
      readonly state: S;
    }
  | { readonly kind: 'ignored'; readonly reason: string; readonly state: S }
  | ({ readonly kind: 'rejected'; readonly state: S } & R);

export interface ExecutorOptions {
  /** Streams whose folded state is kept between commands. 0 reads the stream for each command. */
  readonly cachedStreams?: number;
  /** Commands decided on one fold and appended in one call when they wait for the same stream. */
  readonly batchSize?: number;
  /** Attempts after a conflict or an unknown outcome before the command fails as unavailable. */
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
  /** An event type that carries the whole folded state: loading reads back to it and no further. */
  readonly checkpointType?: string;
}

/** Enough to outlast the appends of another process that has not noticed its rival yet. */
const ATTEMPTS = 24;
/** Streams for which the executor remembers other writers. */
const PACED_STREAMS = 1_000;

interface Waiting<C, E, S, R extends Rejection> {
  readonly command: C;
  readonly intent: string;
  readonly metadata: Metadata;
  /** Decide on the empty stream first: for a new id, reading would find nothing. */
  readonly fresh: boolean;
  readonly resolve: (outcome: Outcome<E, S, R>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs a decider on its streams: load, fold, decide, append at the revision seen, and decide again when another writer
 * was first. Commands that wait for the same stream are decided together on one fold and appended in one call, so that
 * a hot stream costs one append per batch, not one per command. Between processes the expected revision is the arbiter.
 */
export class CommandExecutor<C, Cat extends EventCatalogue, S, R extends Rejection> {
  private readonly queues = new Map<string, Waiting<C, EventOf<Cat>, S, R>[]>();
  private readonly cache: RecentlyUsed<string, Loaded<S>>;
  private readonly pacing = new RecentlyUsed<string, AppendPacing>(PACED_STREAMS);
  private readonly streams: StreamFolder<Cat, S>;
  private readonly batchSize: number;
  private readonly attempts: number;

  constructor(
    private readonly store: EventStore,
    private readonly catalogue: Cat,
    private readonly decider: Decider<C, EventOf<Cat>, S, R>,
    private readonly options: ExecutorOptions = {},
  ) {
    this.cache = new RecentlyUsed(options.cachedStreams ?? 0);
    this.streams = new StreamFolder(store, catalogue, decider, options.checkpointType);
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

  /** The folded state of a stream and its revision, read from the store. */
  async load(id: string): Promise<{ state: S; revision: ExpectedRevision }> {
    return this.streams.read(streamName(this.catalogue.category, id), null);
  }

  /**
   * Starts the next command on a stream from a state that the caller has folded, instead of reading it. If the stream has
   * continued since, the append meets a conflict and reads the rest, as always.
   */
  remember(id: string, folded: Folded<S>): void {
    const stream = streamName(this.catalogue.category, id);
    const loaded = this.streams.accept(stream, folded);
    if (loaded) this.cache.set(stream, loaded);
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
        await this.run(stream, batch);
      } catch (error) {
        this.cache.delete(stream);
        for (const waiting of batch) waiting.reject(error);
      }
    }
    this.queues.delete(stream);
  }

  private async run(stream: string, batch: readonly Waiting<C, EventOf<Cat>, S, R>[]): Promise<void> {
    const pacing = this.pacing.get(stream) ?? new AppendPacing();
    this.pacing.set(stream, pacing);
    const { contended, pauseMs } = pacing.approach();
    if (pauseMs > 0) await delay(pauseMs);
    pacing.begin();
    const cached = this.cache.get(stream);
    const remembered = cached && !this.streams.isOutdated(stream, cached) ? cached : undefined;
    const fresh = batch.every((waiting) => waiting.fresh);
    let loaded = remembered ?? (fresh ? this.streams.empty() : await this.streams.read(stream, null));
    let certain = !remembered && !fresh;
    if (remembered && contended) {
      loaded = await this.streams.read(stream, remembered);
      certain = true;
      if (loaded.revision !== remembered.revision) pacing.sawRivals();
    }
    for (let attempt = 1; ; attempt += 1) {
      let decided = this.decideAll(stream, batch, loaded);
      if (!certain && decided.events.length === 0) {
        // Without an append, no expected revision reveals that the cached state is out of date.
        loaded = await this.streams.read(stream, loaded);
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
        this.cache.set(stream, decided.loaded);
        for (const settle of decided.settle) settle();
        return;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        if (attempt >= this.attempts) {
          throw new StoreUnavailable(`${stream} is too busy: ${attempt} appends met a conflict`, false, {
            cause: error,
          });
        }
        pacing.sawRivals();
        await delay(jitter(attempt));
        pacing.begin();
        loaded = await this.streams.read(stream, loaded);
        certain = true;
      }
    }
  }

  private decideAll(stream: string, batch: readonly Waiting<C, EventOf<Cat>, S, R>[], from: Loaded<S>) {
    let { state, chain, last } = from;
    const events: (EventToAppend & Recorded)[] = [];
    const settle: (() => void)[] = [];
    for (const asked of batch) {
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
          const metadata = this.dated(asked.metadata, last);
          let after = { state, chain };
          for (const domainEvent of decision.events) {
            const revision = nextRevision(from.revision, events.length + own.length);
            const prepared = prepareEvent(this.catalogue, domainEvent, {
              stream,
              revision,
              intent: asked.intent,
              metadata,
              index: own.length,
              previousChain: this.options.chained ? after.chain : null,
            });
            after = {
              state: this.decider.evolve(after.state, domainEvent),
              chain: prepared.metadata.chain ?? after.chain,
            };
            own.push(prepared);
          }
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
    return { events, settle, loaded: { ...from, state, chain, last } };
  }

  /**
   * A writer whose clock was ahead dated events later than the store recorded them. Beyond the bound, the record time
   * counts, so that one such writer does not stop the others.
   * @throws ClockUntrusted
   */
  private dated(metadata: Metadata, last: Loaded<S>['last']): Metadata {
    const { datesAscend } = this.options;
    if (!datesAscend || !last) return metadata;
    const lastAt = Math.min(last.occurredAt, last.recordedAt + datesAscend.withinMs);
    const behindMs = lastAt - Date.parse(metadata.occurredAt);
    if (!(behindMs > 0)) return metadata;
    if (behindMs > datesAscend.withinMs)
      throw new ClockUntrusted(`this process is ${behindMs} ms behind the last event of the stream`);
    return { ...metadata, occurredAt: instant(lastAt) };
  }

  /** The span is a child of the first command's span and links to those of the others. */
  private appendTraced(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    if (!isTracing()) return this.appendSurely(stream, expected, events);
    const [parent, ...links] = new Set(events.map(({ metadata }) => metadata.traceparent));
    const attributes = { 'event_store.stream': stream, 'event.types': events.map(({ type }) => type) };
    return inSpan(`append to ${this.catalogue.category}`, { parent, links, attributes }, () =>
      this.appendSurely(stream, expected, events),
    );
  }

  /** Repeats an append of unknown outcome with the same ids at the same revision: the answer settles the outcome. */
  private async appendSurely(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    try {
      return await this.store.append(stream, expected, events);
    } catch (error) {
      if (!(error instanceof StoreUnavailable && error.outcomeUnknown)) throw error;
      return this.store.append(stream, expected, events);
    }
  }
}

const nextRevision = (last: ExpectedRevision, offset: number): bigint =>
  (last === 'no_stream' ? 0n : last + 1n) + BigInt(offset);

/** Milliseconds before the next try after a conflict: short, growing, spread so that rivals part. */
const jitter = (attempt: number): number => Math.min(100, 2 * 2 ** attempt) * Math.random();
