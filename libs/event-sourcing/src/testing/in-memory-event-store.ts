import type { EventToAppend, StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import { AppendTooLarge, WrongExpectedRevision } from '../store/errors.js';
import type { EventStore, ExpectedRevision } from '../store/event-store.js';

/** EventStoreDB's default for one append: data, metadata and types together. */
const MAX_BYTES = 1_048_576;

const bytesOf = ({ type, data, metadata }: EventToAppend): number =>
  type.length + Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));

/**
 * An event store without a server, for specs of deciders and consumers. Has revisions, idempotent retries, the largest
 * append, and positions that increase by more than one.
 */
export class InMemoryEventStore implements EventStore {
  readonly log: StoredEvent[] = [];
  private readonly streams = new Map<string, StoredEvent[]>();
  private readonly listeners = new Set<() => void>();

  /** @param now the store's clock (ms since the epoch); without it, the store shares the clock of its writers */
  constructor(private readonly now?: () => number) {}

  async append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    const existing = this.streams.get(stream) ?? [];
    const actual: ExpectedRevision = existing.length === 0 ? 'no_stream' : BigInt(existing.length - 1);
    if (actual !== expected) {
      const from = expected === 'no_stream' ? 0 : Number(expected) + 1;
      const written = existing.slice(from, from + events.length);
      const repeated =
        written.length === events.length && written.every(({ id }, index) => id === events[index]!.id);
      if (!repeated) throw new WrongExpectedRevision(stream, expected, actual);
      return { revision: written.at(-1)!.revision, position: written.at(-1)!.position };
    }
    const bytes = events.reduce((sum, event) => sum + bytesOf(event), 0);
    if (bytes > MAX_BYTES) throw new AppendTooLarge(`Maximum Append Size of ${MAX_BYTES} Exceeded`);
    for (const event of events) {
      const stored: StoredEvent = {
        ...structuredClone(event),
        stream,
        revision: BigInt(existing.length),
        position: BigInt(this.log.length + 1) * 100n,
        recordedAt: this.now?.() ?? Date.parse(event.metadata.occurredAt),
      };
      existing.push(stored);
      this.log.push(stored);
    }
    this.streams.set(stream, existing);
    for (const wake of this.listeners) wake();
    return { revision: BigInt(existing.length - 1), position: this.log.at(-1)!.position };
  }

  async *read(
    stream: string,
    options: { from?: bigint; direction?: 'forwards' | 'backwards'; limit?: number } = {},
  ) {
    const all = this.streams.get(stream) ?? [];
    const { from, direction = 'forwards', limit = Infinity } = options;
    const chosen =
      direction === 'forwards'
        ? all.filter(({ revision }) => revision >= (from ?? 0n))
        : all.filter(({ revision }) => from === undefined || revision <= from).reverse();
    yield* chosen.slice(0, limit);
  }

  async *readAll({
    after = null,
    direction = 'forwards',
    limit = Infinity,
    categories,
  }: Parameters<EventStore['readAll']>[0] = {}) {
    const own = this.log.filter(({ stream }) => categories?.includes(categoryOf(stream)) ?? true);
    const chosen =
      direction === 'forwards'
        ? own.filter(({ position }) => after === null || position > after)
        : own.filter(({ position }) => after === null || position < after).reverse();
    yield* chosen.slice(0, limit);
  }

  subscribe({ after, categories, onCheckpoint }: Parameters<EventStore['subscribe']>[0]) {
    let closed = false;
    let wake = (): void => undefined;
    const listener = (): void => wake();
    this.listeners.add(listener);
    const log = this.log;
    const listeners = this.listeners;
    return {
      async *[Symbol.asyncIterator]() {
        for (let index = log.findIndex(({ position }) => after === null || position > after); !closed;) {
          if (index < 0) index = log.findIndex(({ position }) => after === null || position > after);
          const event = index < 0 ? undefined : log[index];
          if (!event) {
            await new Promise<void>((resolve) => (wake = resolve));
            continue;
          }
          index += 1;
          if (categories.length === 0 || categories.includes(categoryOf(event.stream))) yield event;
          else onCheckpoint?.(event.position);
        }
      },
      close: async () => {
        closed = true;
        listeners.delete(listener);
        wake();
      },
    };
  }

  async head() {
    return this.log.at(-1)?.position ?? null;
  }

  end() {
    return this.head();
  }

  async serverTime() {
    return null;
  }

  async close() {
    this.streams.clear();
  }
}
