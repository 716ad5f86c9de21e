import {
  StreamNotFoundError,
  type AllStreamResolvedEvent,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import { StoreUnavailable, classify, noAnswer } from './errors.js';
import type { StoredEvent } from '../core/event.js';
import { STORE_DEFAULTS, type ReadOptions } from './event-store.js';
import { readMetadata } from './metadata.js';
import { CorruptEvent } from '../core/event-catalogue.js';

/** Callers that may wait for each slot. One more is refused at once. */
const WAITING_PER_SLOT = 50;

/**
 * Limits concurrent reads on one connection. A server accepts 100 calls on a connection and lets further calls wait
 * without a limit.
 */
export class CallSlots {
  private taken = 0;
  private readonly queue = new Set<() => void>();

  /** @param waitMs longest wait for a slot */
  constructor(
    private readonly slots: number,
    private readonly waitMs: number,
  ) {}

  get used(): number {
    return this.taken;
  }

  /** Waiting callers. */
  get waiting(): number {
    return this.queue.size;
  }

  /**
   * Resolves with the function that releases the slot; a second call has no effect.
   * @throws StoreUnavailable when none was free in time
   */
  async take(): Promise<() => void> {
    if (this.taken < this.slots) this.taken += 1;
    else await this.slot();
    let held = true;
    return () => {
      if (held) this.giveBack();
      held = false;
    };
  }

  private slot(): Promise<void> {
    const full = `${this.slots} reads of the event store are under way, and none ended in ${this.waitMs} ms`;
    if (this.queue.size >= this.slots * WAITING_PER_SLOT)
      return Promise.reject(new StoreUnavailable(full, false));
    return new Promise((resolve, reject) => {
      const mine = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        this.queue.delete(mine);
        reject(new StoreUnavailable(full, false));
      }, this.waitMs);
      this.queue.add(mine);
    });
  }

  /** The slot goes to the caller that has waited longest. */
  private giveBack(): void {
    const [next] = this.queue;
    if (!next) {
      this.taken -= 1;
      return;
    }
    this.queue.delete(next);
    next();
  }
}

/** Most events of one call: limits a reader's memory, and how long a call stays open. */
export const PAGE = 256;

type AnyResolvedEvent = ResolvedEvent | AllStreamResolvedEvent;

/** Links are not resolved: each answer has an event. */
export const storedEvent = ({ event }: AnyResolvedEvent): StoredEvent => {
  const { id, streamId, revision, position, type, data, metadata, created } = event!;
  const recordedAt = created.getTime();
  return {
    id,
    stream: streamId,
    revision,
    position: position?.commit ?? 0n,
    type,
    data: data instanceof Uint8Array ? Buffer.from(data).toString() : data,
    metadata: readMetadata(metadata, recordedAt),
    recordedAt,
  };
};

export type FiniteRead = StreamingRead<ResolvedEvent> | StreamingRead<AllStreamResolvedEvent>;

/**
 * The events of one finite call, received as fast as they arrive. So the call is closed while the reader works, and a
 * reader that stops leaves nothing open. A stream that does not exist has none.
 * @param start makes the call once the client has found its node
 * @param timeoutMs longest wait for a slot, and then for each event
 * @throws StoreUnavailable
 */
export const readPage = async (
  slots: CallSlots,
  start: () => Promise<FiniteRead>,
  timeoutMs: number,
): Promise<readonly StoredEvent[]> => {
  const release = await slots.take();
  const events: StoredEvent[] = [];
  let ended = false;
  const call = start();
  try {
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(noAnswer('a read', timeoutMs, false));
      const silent = setTimeout(() => {
        // If the process itself was busy, take the events that have arrived first.
        const seen = events.length;
        setImmediate(() => setImmediate(() => (events.length > seen ? silent.refresh() : giveUp())));
      }, timeoutMs);
      const endless = setTimeout(giveUp, timeoutMs * STORE_DEFAULTS.wholePageFactor);
      const over = (settle: () => void): void => {
        clearTimeout(silent);
        clearTimeout(endless);
        settle();
      };
      const end = (): void => {
        ended = true;
        over(resolve);
      };
      const receive = (stream: FiniteRead): void =>
        void stream
          .on('data', (answer: AnyResolvedEvent) => {
            events.push(storedEvent(answer));
            silent.refresh();
          })
          .on('end', end)
          .on('error', (error) => (error instanceof StreamNotFoundError ? end() : over(() => reject(error))))
          .on('close', () => over(() => reject(new StoreUnavailable('The read was cut off', false))));
      call.then(receive, (error: unknown) =>
        over(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });
    return events;
  } catch (error) {
    throw classify(error, false);
  } finally {
    // While the client looks for a node, the call has not started: it keeps its slot until it is cancelled.
    if (ended) release();
    else void call.then(leave).then(release, release);
  }
};

/** Destroying the stream alone would leave the call open as long as the server has more to send. */
const leave = (stream: FiniteRead): Promise<void> => {
  stream.destroy();
  return stream.cancel();
};

/** A read of one stream, or of the log (`stream: null`). */
export interface ReadRequest {
  readonly stream: string | null;
  /** Revision or commit position of the first event. */
  readonly from: bigint | 'start' | 'end';
  readonly backwards: boolean;
  readonly count: number;
}

export type ReadEvents = (request: ReadRequest) => Promise<readonly StoredEvent[]>;

/**
 * Reads one stream in pages. The service neither truncates nor deletes streams, so one that lacks its beginning was
 * changed with the server's own tools: folding the rest would give a wrong state without a word.
 * @param mayBeginWith types of events before which operators may truncate a stream
 * @throws CorruptEvent when the part to read has its beginning hidden
 * @throws StoreUnavailable
 */
export async function* readStream(
  readEvents: ReadEvents,
  stream: string,
  { from, direction = 'forwards', limit = Infinity }: ReadOptions,
  mayBeginWith: ReadonlySet<string>,
): AsyncIterable<StoredEvent> {
  const forwards = direction === 'forwards';
  const step = forwards ? 1n : -1n;
  let [left, next, isBeginning] = [limit, from, false];
  for (;;) {
    const asked = Math.min(PAGE, left);
    if (asked <= 0 || (next !== undefined && next < 0n)) return;
    const page = await readEvents({
      stream,
      from: next ?? (forwards ? 'start' : 'end'),
      backwards: !forwards,
      count: asked,
    });
    const before = next;
    for (const stored of page) {
      isBeginning = mayBeginWith.has(stored.type);
      if (forwards && !isBeginning && stored.revision > (next ?? 0n))
        throw hiddenBefore(stream, stored.revision);
      next = stored.revision + step;
      yield stored;
    }
    if (page.length < asked || next === before) {
      const isEmpty = next === from;
      if (!forwards && !isEmpty && !isBeginning && next! >= 0n) throw hiddenBefore(stream, next! + 1n);
      if (isEmpty && !(forwards && from !== undefined && from > 0n))
        await requireUnlimited(readEvents, stream);
      return;
    }
    left -= asked;
  }
}

const hiddenBefore = (stream: string, revision: bigint): CorruptEvent =>
  hidden(stream, `its events before revision ${revision} were truncated`);

const hidden = (stream: string, what: string): CorruptEvent =>
  new CorruptEvent({ stream, revision: 0n, type: 'hidden' }, `${what} with the event store's own tools`);

/** Members of a stream's metadata that hide events: those of EventStoreDB's `$metadata`. */
const LIMITS = ['$tb', '$maxCount', '$maxAge'];

/** The server answers alike for a stream that is deleted and for one that never was. Only its metadata differs. */
const requireUnlimited = async (readEvents: ReadEvents, stream: string): Promise<void> => {
  if (stream.startsWith('$')) return;
  const [found] = await readEvents({ stream: `$$${stream}`, from: 'end', backwards: true, count: 1 });
  const limits = (found?.data ?? {}) as Readonly<Record<string, unknown>>;
  if (LIMITS.some((limit) => limits[limit] !== undefined))
    throw hidden(stream, 'all its events were truncated or deleted');
};
