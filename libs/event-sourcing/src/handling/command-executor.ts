import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Decider } from '../core/decider.js';
import type { Rejection } from '../core/decision.js';
import type { EventCatalogue, EventOf } from '../core/event-catalogue.js';
import type { EventToAppend } from '../core/event.js';
import { streamName } from '../core/stream-name.js';
import { StoreUnavailable, WrongExpectedRevision } from '../store/errors.js';
import type { EventStore, ExpectedRevision } from '../store/event-store.js';
import { currentTraceparent, inSpan, isTracing } from '../tracing/tracing.js';
import { appendSurely } from './append-surely.js';
import { AppendPacing } from './append-pacing.js';
import { metadataOf, type CommandContext } from './command-context.js';
import { decideBatch, type Outcome, type Waiting } from './decide-batch.js';
import { isAhead, readPastRival } from './read-past-rival.js';
import type { Folded } from './folded.js';
import { StreamFolder, type Checkpoint } from './stream-folder.js';

export type { Outcome };

export interface ExecutorOptions<E = unknown, S = unknown> {
  /** Streams whose folded state is kept between commands. 0 reads the stream for each command. */
  readonly cachedStreams?: number;
  /** Commands decided on one fold and appended in one call when they wait for the same stream. */
  readonly batchSize?: number;
  /** Attempts after a conflict before the command fails as unavailable. */
  readonly attempts?: number;
  /** Adds a hash chain to the metadata of every event. */
  readonly chained?: boolean;
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
    const metadata = metadataOf(context);
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

  /** Reads what came since, and holds it at once: the fold of a long stream outlives a command that fails. */
  private async read(stream: string, known: Folded<S> | null): Promise<Folded<S>> {
    const loaded = await this.streams.read(stream, known);
    // Another command may have gone further meanwhile.
    if (isNewer(loaded, this.cache?.get(stream))) this.cache?.set(stream, loaded);
    return loaded;
  }

  /**
   * Starts the next command on a stream from a state that the caller has folded, instead of reading it. If the stream has
   * continued since, the append meets a conflict and reads the rest, as always.
   */
  remember(id: string, folded: Folded<S>): void {
    this.cache?.set(streamName(this.catalogue.category, id), folded);
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
