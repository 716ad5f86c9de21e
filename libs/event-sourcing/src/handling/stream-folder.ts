import type { Decider } from '../core/decider.js';
import type { Rejection } from '../core/decision.js';
import {
  CorruptEvent,
  decode,
  requireWorkspace,
  type EventCatalogue,
  type EventOf,
} from '../core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '../core/event.js';
import { CHAIN_START, continuesChain } from '../core/hash-chain.js';
import type { EventStore } from '../store/event-store.js';
import type { Folded } from './folded.js';

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
  /**
   * The revision of the last checkpoint, found without reading all that came since; `none`: the stream has none; `null`:
   * unknown. Asked only for a stream that has thousands of events since.
   */
  readonly locate?: (store: Pick<EventStore, 'read'>, stream: string) => Promise<bigint | 'none' | null>;
}

/** A fold, and the events that come after it. */
interface Beginning<S> {
  readonly from: Folded<S>;
  readonly events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>;
}

/** Events of a stream in memory at a time: some 15 MB. */
const MOST_HELD = 10_000;

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
    const { from, events } = known ? this.after(stream, known) : await this.begin(stream);
    let loaded = from;
    for await (const stored of events) loaded = this.evolve(loaded, stored);
    return loaded;
  }

  private after(stream: string, from: Folded<S>): Beginning<S> {
    const { revision } = from;
    return { from, events: this.store.read(stream, { from: revision === 'no_stream' ? 0n : revision + 1n }) };
  }

  /** The last checkpoint with its parts and the events after it. Of a long stream, few of them are held at a time. */
  private async begin(stream: string): Promise<Beginning<S>> {
    const { checkpoint } = this;
    const empty = this.empty();
    if (!checkpoint) return this.after(stream, empty);
    const near = await this.lastCheckpoint(stream, checkpoint, MOST_HELD);
    if (near.events) return { from: empty, events: near.events };
    const place = (await checkpoint.locate?.(this.store, stream)) ?? null;
    if (place === 'none') return this.after(stream, empty);
    const placed = place === null ? null : await this.lastCheckpoint(stream, checkpoint, MOST_HELD, place);
    if (place !== null && placed?.events) {
      const rest = this.store.read(stream, { from: place + 1n });
      return { from: empty, events: joined(placed.events, rest) };
    }
    const { first } = await this.lastCheckpoint(stream, checkpoint, 0);
    return { from: empty, events: this.store.read(stream, { from: first }) };
  }

  /**
   * Reads backwards to the last checkpoint and its parts, or to the beginning of the stream.
   * @param most events to return; 0: none, only where the first is
   * @param from revision; default: the end
   * @returns the events in the order of the stream; `null`: there are more
   */
  private async lastCheckpoint(
    stream: string,
    { type, parts }: Checkpoint<EventOf<Cat>, S>,
    most: number,
    from?: bigint,
  ): Promise<{ readonly events: readonly StoredEvent[] | null; readonly first: bigint }> {
    const events: StoredEvent[] = [];
    let first = 0n;
    let missing: number | null = null;
    const options = { direction: 'backwards', ...(from !== undefined && { from }) } as const;
    for await (const stored of this.store.read(stream, options)) {
      const counts = !isSetAside(stored);
      if (missing !== null && counts && stored.type !== parts?.type) break;
      if (most > 0 && events.length === most) return { events: null, first };
      first = stored.revision;
      if (most > 0) events.push(stored);
      if (!counts) continue;
      if (missing !== null) missing -= 1;
      else if (stored.type === type) missing = parts?.countOf(decode(this.catalogue, stored)) ?? 0;
      if (missing === 0) break;
    }
    return { events: most > 0 ? events.reverse() : null, first };
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

async function* joined<T>(first: Iterable<T>, then: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* then;
}
