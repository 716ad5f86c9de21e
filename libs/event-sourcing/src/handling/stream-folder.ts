import type { Decider } from '../core/decider.js';
import type { Rejection } from '../core/decision.js';
import { decode, type EventCatalogue, type EventOf } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import { CHAIN_START } from '../core/hash-chain.js';
import type { EventStore, ExpectedRevision } from '../store/event-store.js';

/** A stream as it was read: its folded state, the revision of its last event, and the end of its hash chain. */
export interface Loaded<S> {
  state: S;
  revision: ExpectedRevision;
  chain: string;
  /** When its last event happened, and when the store recorded it (ms since the epoch; unknown: Infinity). */
  last: { readonly occurredAt: number; readonly recordedAt: number } | null;
}

/** Reads a stream and folds its events with the decider. */
export class StreamFolder<Cat extends EventCatalogue, S> {
  constructor(
    private readonly store: EventStore,
    private readonly catalogue: Cat,
    private readonly decider: Pick<Decider<never, EventOf<Cat>, S, Rejection>, 'initialState' | 'evolve'>,
    /** An event type that carries the whole folded state: reading goes back to it and no further. */
    private readonly checkpointType?: string,
  ) {}

  empty(): Loaded<S> {
    return { state: this.decider.initialState, revision: 'no_stream', chain: CHAIN_START, last: null };
  }

  /** Folds the events since `known`, or the whole stream back to its last checkpoint event. */
  async read(stream: string, known: Loaded<S> | null): Promise<Loaded<S>> {
    const { checkpointType } = this;
    if (!known && checkpointType) {
      const newest: StoredEvent[] = [];
      for await (const stored of this.store.read(stream, { direction: 'backwards' })) {
        newest.push(stored);
        if (stored.type === checkpointType) break;
      }
      return newest.reverse().reduce((loaded, stored) => this.evolve(loaded, stored), this.empty());
    }
    let loaded = known ?? this.empty();
    const from = loaded.revision === 'no_stream' ? 0n : loaded.revision + 1n;
    for await (const stored of this.store.read(stream, { from })) loaded = this.evolve(loaded, stored);
    return loaded;
  }

  private evolve(loaded: Loaded<S>, stored: StoredEvent): Loaded<S> {
    const event = decode(this.catalogue, stored);
    return {
      state: this.decider.evolve(loaded.state, event),
      revision: stored.revision,
      chain: stored.metadata.chain ?? loaded.chain,
      last: { occurredAt: Date.parse(stored.metadata.occurredAt), recordedAt: stored.recordedAt ?? Infinity },
    };
  }
}
