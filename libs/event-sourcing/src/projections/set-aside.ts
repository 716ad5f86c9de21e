import { z } from 'zod';
import { decode, event, eventCatalogue, type EventOf } from '../core/event-catalogue.js';
import type { SetAside, StoredEvent } from '../core/event.js';
import type { RequestContext } from '../core/request-context.js';
import { appendWithRetry, readPastRival, metadataOf, prepareEvent } from '../commands/command-executor.js';
import { collect, intercept, type EventStore, type ExpectedRevision } from '../store/event-store.js';
import { WrongExpectedRevision } from '../store/errors.js';

/** Decisions of operators that readers pass over an event that they cannot handle. They are final. */
export const setAsideEvents = eventCatalogue('setAside', {
  EventSetAside: event(
    1,
    z.strictObject({
      /** Which event: its stream and, in decimal, its revision there. Together they are unique for ever; an id need not be. */
      stream: z.string(),
      revision: z.string().regex(/^\d+$/),
      eventId: z.string(),
      eventType: z.string(),
      /** The projections and processes that pass over it; `null`: every reader does. */
      consumers: z.array(z.string()).nullable(),
      /** What was wrong with it. Never values of the event. */
      cause: z.string(),
      reason: z.string(),
    }),
  ),
});

type EventSetAside = EventOf<typeof setAsideEvents>;

/** All decisions are in one stream: there are few, and a reader needs all of them. */
export const SET_ASIDE_STREAM = 'setAside-events';

/** An event that was set aside. */
export interface SetAsideEvent extends SetAside {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventId: string;
  readonly eventType: string;
  readonly cause: string;
}

/** How old the register may be: a decision of an operator reaches every process within this time (ms). */
const FRESH_MS = 2_000;

/** The events that are set aside, folded from their stream and kept current while events are read. */
export class SetAsideRegister {
  private readonly known = new Map<string, SetAsideEvent>();
  private next = 0n;
  private readAt = -Infinity;
  private reading: Promise<void> | null = null;
  private readonly undecodable: StoredEvent[] = [];

  constructor(private readonly store: Pick<EventStore, 'read'>) {}

  all(): readonly SetAsideEvent[] {
    return [...this.known.values()];
  }

  /** Entries of the stream that are no decisions, and take no effect. */
  unreadable(): readonly StoredEvent[] {
    return this.undecodable.filter((one) => !this.known.has(keyOf(one)));
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

  /** The event, with the decision about it if there is one. */
  marked<E extends Pick<StoredEvent, 'stream' | 'revision' | 'setAside'>>(stored: E): E {
    const found = this.known.size > 0 && this.known.get(keyOf(stored));
    if (!found) return stored;
    const { consumers, by, reason, at } = found;
    return { ...stored, setAside: { consumers, by, reason, at } };
  }

  private async read(): Promise<void> {
    const startedAt = performance.now();
    for await (const stored of this.store.read(SET_ASIDE_STREAM, { from: this.next })) {
      this.see(stored);
      this.next = stored.revision + 1n;
    }
    this.readAt = startedAt;
  }

  private see(stored: StoredEvent): void {
    try {
      const { data, metadata } = decode(setAsideEvents, stored);
      const place = { stream: data.stream, revision: BigInt(data.revision) };
      const before = this.known.get(keyOf(place))?.consumers;
      const consumers =
        before === null || data.consumers === null ? null : [...(before ?? []), ...data.consumers];
      this.known.set(keyOf(place), {
        ...data,
        ...place,
        consumers: consumers && [...new Set(consumers)].toSorted(),
        by: metadata.actor,
        at: metadata.occurredAt,
      });
    } catch {
      // A bad entry here must not take every reader of the log with it.
      this.undecodable.push(stored);
    }
  }
}

const keyOf = ({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>): string =>
  `${stream}@${revision}`;

/** What is set aside now. @throws StoreUnavailable */
export const readSetAside = async (store: Pick<EventStore, 'read'>): Promise<SetAsideRegister> => {
  const register = new SetAsideRegister(store);
  await register.refresh();
  return register;
};

/** Operators who decide at the same time, at most. */
const ATTEMPTS = 10;

/**
 * Records a decision. Unlike a command executor, it reads no earlier ones: a bad entry in the stream must not keep
 * operators from deciding.
 * @throws StoreUnavailable
 */
export const recordSetAside = async (
  store: EventStore,
  data: EventSetAside['data'],
  by: RequestContext,
  now = Date.now(),
): Promise<void> => {
  const last = async (): Promise<{ readonly revision: ExpectedRevision }> => {
    const [found] = await collect(store.read(SET_ASIDE_STREAM, { direction: 'backwards', limit: 1 }));
    return found ?? { revision: 'no_stream' };
  };
  let { revision: expected } = await last();
  for (let attempt = 1; ; attempt += 1) {
    const { event: prepared } = prepareEvent(
      setAsideEvents,
      { type: 'EventSetAside', data },
      {
        stream: SET_ASIDE_STREAM,
        revision: expected === 'no_stream' ? 0n : expected + 1n,
        intent: `EventSetAside|${data.stream}@${data.revision}|${by.correlationId}`,
        metadata: metadataOf({ intent: '', by, workspaceId: '', at: now }),
        index: 0,
        previousChain: null,
      },
    );
    try {
      await appendWithRetry(store, SET_ASIDE_STREAM, expected, [prepared]);
      return;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision) || attempt === ATTEMPTS) throw error;
      ({ revision: expected } = await readPastRival(error, last));
    }
  }
};

/** The store, whose events say whether they are set aside: the one place where readers learn of it. */
export const withSetAside = (store: EventStore): EventStore => {
  const register = new SetAsideRegister(store);
  /** A subscription may wait for hours: it looks at the register when an event arrives. */
  async function* marked(events: AsyncIterable<StoredEvent>): AsyncGenerator<StoredEvent> {
    for await (const event of events) {
      if (!register.isFresh()) await register.refresh();
      yield register.marked(event);
    }
  }
  return intercept(store, {
    async append(stream, expected, events) {
      const result = await store.append(stream, expected, events);
      if (stream === SET_ASIDE_STREAM) await register.refresh();
      return result;
    },
    read: (stream, options) => marked(store.read(stream, options)),
    readAll: (options) => marked(store.readAll(options)),
    subscribe(options) {
      const subscription = store.subscribe(options);
      return {
        [Symbol.asyncIterator]: () => marked(subscription),
        close: () => subscription.close(),
      };
    },
  });
};
