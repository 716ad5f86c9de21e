import type { Decider } from '../core/decider.js';
import type { Rejection } from '../core/decision.js';
import { decode, requireWorkspace, type EventCatalogue, type EventOf } from '../core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '../core/event.js';
import { CHAIN_START, continuesChain } from '../core/hash-chain.js';
import type { EventStore, ExpectedRevision } from '../store/event-store.js';

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

/** A stream as it was read. */
export interface Loaded<S> extends Folded<S> {
  /** How often the stream's quarantines had changed: a state folded before the last change is out of date. */
  quarantineChanges: number;
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
    return {
      state: this.decider.initialState,
      revision: 'no_stream',
      chain: CHAIN_START,
      last: null,
      workspaceId: '',
      quarantineChanges: 0,
    };
  }

  /** Whether a state was folded before an operator quarantined an event of the stream, or withdrew a quarantine. */
  isOutdated(stream: string, { quarantineChanges }: Loaded<S>): boolean {
    return this.changes(stream) !== quarantineChanges;
  }

  /** A state that somebody else folded; `null` when it may lack a quarantine, so that the stream has to be read. */
  accept(stream: string, folded: Folded<S>): Loaded<S> | null {
    const isKnown = this.store.quarantines?.isFresh() ?? true;
    return this.changes(stream) === 0 && isKnown ? { ...folded, quarantineChanges: 0 } : null;
  }

  private changes(stream: string): number {
    return this.store.quarantines?.changesOf(stream) ?? 0;
  }

  /** Folds the events since `known`, or the whole stream back to its last checkpoint event. */
  async read(stream: string, known: Loaded<S> | null): Promise<Loaded<S>> {
    const { checkpointType } = this;
    // Counted before the first event: a change during the read makes the state out of date.
    const quarantineChanges = this.changes(stream);
    if (!known && checkpointType) {
      const newest: StoredEvent[] = [];
      for await (const stored of this.store.read(stream, { direction: 'backwards' })) {
        newest.push(stored);
        if (stored.type === checkpointType && !isSetAside(stored)) break;
      }
      return newest.reverse().reduce((loaded, stored) => this.evolve(loaded, stored), {
        ...this.empty(),
        quarantineChanges,
      });
    }
    const usable = known && !this.isOutdated(stream, known) ? known : this.empty();
    let loaded = usable;
    const from = loaded.revision === 'no_stream' ? 0n : loaded.revision + 1n;
    for await (const stored of this.store.read(stream, { from })) loaded = this.evolve(loaded, stored);
    return { ...loaded, quarantineChanges };
  }

  private evolve(loaded: Loaded<S>, stored: StoredEvent): Loaded<S> {
    const { revision, metadata } = stored;
    if (isSetAside(stored))
      return {
        ...loaded,
        revision,
        chain: continuesChain(loaded.chain, stored) ? metadata.chain! : loaded.chain,
      };
    const event = decode(this.catalogue, stored);
    requireWorkspace(stored, loaded.workspaceId);
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
