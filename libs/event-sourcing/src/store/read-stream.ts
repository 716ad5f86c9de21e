import { CorruptEvent } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import type { ReadOptions } from './event-store.js';
import { PAGE } from './page.js';

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
