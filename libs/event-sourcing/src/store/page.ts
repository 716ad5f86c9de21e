import { StreamNotFoundError, type ResolvedEvent, type StreamingRead } from '@eventstore/db-client';
import { classify, noAnswer } from './classify.js';
import type { CallSlots } from './call-slots.js';
import { StoreUnavailable } from './errors.js';

/** Events of one call at most: bounds the memory of a reader, and how long a call stays open. */
export const PAGE = 256;
/** Of a read that does not say how many it wants: most streams are shorter, and most readers leave early. */
const FIRST_PAGE = 32;
const GROWTH = 4;
/** A server that sends an event now and then is given up after so many times the wait for one. */
const WHOLE_PAGE_FACTOR = 10;

/**
 * How many events each call of a read asks for, one call after the other.
 * @param limited whether the reader said how many it wants
 */
export function* pageSizes(limited: boolean): Generator<number, never> {
  for (let size = limited ? PAGE : FIRST_PAGE; ; size = Math.min(PAGE, size * GROWTH)) yield size;
}

/** How many events to ask for at least, after a page of so many that had none of ours. */
export const afterBarren = (asked: number): number => Math.min(PAGE, asked * GROWTH);

/**
 * The events of one finite call, taken as fast as they come: nothing is left open on the server while the reader works,
 * and a reader that stops leaves nothing behind. A stream that does not exist has none.
 * @param timeoutMs longest wait for a slot, and then for each event
 * @throws StoreUnavailable
 */
export const readPage = async (
  slots: CallSlots,
  open: () => StreamingRead<ResolvedEvent>,
  timeoutMs: number,
): Promise<readonly ResolvedEvent[]> => {
  const release = await slots.take();
  let call: StreamingRead<ResolvedEvent>;
  try {
    call = open();
  } catch (error) {
    release();
    throw classify(error, false);
  }
  const events: ResolvedEvent[] = [];
  let ended = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(noAnswer('a read', timeoutMs, false));
      const silent = setTimeout(() => {
        // When the process itself was busy, what has arrived is taken first.
        const seen = events.length;
        setImmediate(() => setImmediate(() => (events.length > seen ? silent.refresh() : giveUp())));
      }, timeoutMs);
      const endless = setTimeout(giveUp, timeoutMs * WHOLE_PAGE_FACTOR);
      const over = (settle: () => void): void => {
        clearTimeout(silent);
        clearTimeout(endless);
        settle();
      };
      call
        .on('data', (event: ResolvedEvent) => {
          events.push(event);
          silent.refresh();
        })
        .on('end', () => {
          ended = true;
          over(resolve);
        })
        .on('error', (error) => over(() => reject(error)))
        .on('close', () => over(() => reject(new StoreUnavailable('The read was cut off', false))));
    });
    return events;
  } catch (error) {
    if (error instanceof StreamNotFoundError) return [];
    throw classify(error, false);
  } finally {
    if (ended) release();
    else abandon(call, release);
  }
};

/**
 * Destroying the client's stream leaves the call open on the server; cancelling it does not. The call may not have begun
 * yet, when the client still looks for a node: it is cancelled as soon as it has, and holds its slot until then.
 */
const abandon = (call: StreamingRead<ResolvedEvent>, release: () => void): void => {
  call.cancel().then(release, release);
  call.destroy();
};
