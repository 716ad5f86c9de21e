import type { ExpectedRevision, EventStore } from '../store/event-store.js';
import type { Decider, Rejection } from '../core/decider.js';
import {
  CorruptEvent,
  decode,
  requireWorkspace,
  type EventCatalogue,
  type EventOf,
} from '../core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '../core/event.js';
import { CHAIN_START, continuesChain } from '../core/hash-chain.js';

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
      if (held && held.push(stored) > MOST_HELD) held = null;
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
