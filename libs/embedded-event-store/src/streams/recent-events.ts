import { LRUCache } from 'lru-cache';

/** Number of remembered event ids. They let the writer recognise a repeated append without an exact revision. */
const REMEMBERED_EVENTS = 50_000;

export interface RecentEvent {
  readonly id: string;
  readonly streamNumber: number;
  readonly revision: bigint;
  readonly position: bigint;
}

/** The most recent events by id, and those not yet durable by revision. */
export class RecentEvents {
  private readonly byId = new LRUCache<string, RecentEvent>({ max: REMEMBERED_EVENTS });
  private readonly pending = new Map<string, RecentEvent>();

  add(event: RecentEvent): void {
    this.remember(event);
    this.pending.set(pendingKey(event.streamNumber, event.revision), event);
  }

  /** Remembers an event that is already durable (at start-up). */
  remember(event: RecentEvent): void {
    this.byId.set(event.id, event);
  }

  /** Called when an event is durable. From then on it is read from the store. */
  release(streamNumber: number, revision: bigint): void {
    this.pending.delete(pendingKey(streamNumber, revision));
  }

  find(streamNumber: number, id: string): RecentEvent | undefined {
    const event = this.byId.get(id);
    return event?.streamNumber === streamNumber ? event : undefined;
  }

  findPending(streamNumber: number, revision: bigint): RecentEvent | undefined {
    return this.pending.get(pendingKey(streamNumber, revision));
  }
}

const pendingKey = (streamNumber: number, revision: bigint): string =>
  `${String(streamNumber)}/${String(revision)}`;
