import { decode } from '../core/event-catalogue.js';
import type { Quarantine, StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import type { EventStore, KnownQuarantines } from '../store/event-store.js';
import { QUARANTINE_STREAM, quarantineEvents } from './quarantine-events.js';

/** A quarantine in force. */
export interface QuarantinedEvent extends Quarantine {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventId: string;
  readonly eventType: string;
  readonly cause: string;
}

/** How old the register may be: a decision of an operator reaches every process within this time (ms). */
const FRESH_MS = 2_000;

/** The quarantines in force, read from their stream and kept current while events are read. */
export class QuarantineRegister implements KnownQuarantines {
  private readonly known = new Map<string, QuarantinedEvent>();
  private readonly withdrawn = new Map<string, Quarantine['consumers']>();
  private readonly changed = new Map<string, number>();
  private next = 0n;
  private readAt = -Infinity;
  private reading: Promise<void> | null = null;
  private readonly undecodable: StoredEvent[] = [];

  constructor(private readonly store: Pick<EventStore, 'read'>) {}

  /** True while there is nothing to look up. */
  get isEmpty(): boolean {
    return this.known.size === 0;
  }

  all(): readonly QuarantinedEvent[] {
    return [...this.known.values()];
  }

  /** Entries of the stream that are no decisions, and take no effect. */
  unreadable(): readonly StoredEvent[] {
    return this.undecodable.filter(({ stream, revision }) => !this.of(stream, revision));
  }

  isFresh(): boolean {
    return performance.now() - this.readAt < FRESH_MS;
  }

  /** Reads the decisions made since the last time. @throws StoreUnavailable */
  async refresh(): Promise<void> {
    // A read under way may have begun before the newest decision.
    await this.reading?.catch(() => undefined);
    this.reading ??= this.read().finally(() => (this.reading = null));
    await this.reading;
  }

  of(stream: string, revision: bigint): QuarantinedEvent | undefined {
    return this.known.get(keyOf(stream, revision));
  }

  /** Whom a quarantine concerned whose withdrawal is the last decision about the event; undefined when none was. */
  withdrawnFrom(stream: string, revision: bigint): Quarantine['consumers'] | undefined {
    return this.withdrawn.get(keyOf(stream, revision));
  }

  /** The event, with its quarantine if it has one. */
  marked<E extends Pick<StoredEvent, 'stream' | 'revision' | 'quarantine'>>(event: E): E {
    const found = this.known.get(keyOf(event.stream, event.revision));
    if (!found) return event;
    const { consumers, by, reason, at, until } = found;
    return { ...event, quarantine: { consumers, by, reason, at, until } };
  }

  /** How often the quarantines of a stream have changed. Refreshes in the background when it is old. */
  changesOf(stream: string): number {
    if (!this.isFresh()) this.refresh().catch(() => undefined);
    return this.changed.get(stream) ?? 0;
  }

  decisionsOn(categories: readonly string[]): bigint {
    let count = 0n;
    for (const [stream, changes] of this.changed)
      if (categories.includes(categoryOf(stream))) count += BigInt(changes);
    return count;
  }

  private async read(): Promise<void> {
    const startedAt = performance.now();
    for await (const stored of this.store.read(QUARANTINE_STREAM, { from: this.next })) {
      this.see(stored);
      this.next = stored.revision + 1n;
    }
    this.readAt = startedAt;
  }

  private see(stored: StoredEvent): void {
    let event;
    try {
      event = decode(quarantineEvents, stored);
    } catch {
      // A bad entry here must not take every reader of the log with it.
      this.undecodable.push(stored);
      return;
    }
    const { stream } = event.data;
    const revision = BigInt(event.data.revision);
    this.changed.set(stream, (this.changed.get(stream) ?? 0) + 1);
    const key = keyOf(stream, revision);
    const before = this.known.get(key);
    if (event.type === 'QuarantineWithdrawn') {
      if (before) this.withdrawn.set(key, before.consumers);
      this.known.delete(key);
      return;
    }
    this.withdrawn.delete(key);
    const { eventId, eventType, cause, reason, until } = event.data;
    this.known.set(key, {
      stream,
      revision,
      eventId,
      eventType,
      cause,
      consumers: joined(before?.consumers, event.data.consumers),
      by: event.metadata.actor,
      reason,
      at: event.metadata.occurredAt,
      until,
    });
  }
}

const joined = (
  before: readonly string[] | null | undefined,
  added: readonly string[] | null,
): readonly string[] | null => {
  if (before === null || added === null) return null;
  return [...new Set([...(before ?? []), ...added])].toSorted();
};

const keyOf = (stream: string, revision: bigint): string => `${stream}@${revision}`;

/** The quarantines in force now. */
export const readQuarantines = async (store: Pick<EventStore, 'read'>): Promise<QuarantineRegister> => {
  const register = new QuarantineRegister(store);
  await register.refresh();
  return register;
};
