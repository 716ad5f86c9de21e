import type { ClientReadableStream } from '@grpc/grpc-js';
import { classify, noAnswer } from './classify.js';
import type { CallSlots } from './call-slots.js';
import { STORE_DEFAULTS } from './defaults.js';
import { StoreUnavailable } from './errors.js';
import type { ReadAnswer } from './read-answer.js';
import type { ReadCall } from './read-call.js';

/** Most events of one call: limits a reader's memory, and how long a call stays open. */
export const PAGE = 256;
/** For a read without a limit: most streams are shorter, and most readers leave early. */
const FIRST_PAGE = 32;
const GROWTH = 4;
/** Of a reader of the whole log, which has two pages at a time: a call costs as much as some ten events. */
export const BULK_PAGE = 1_024;

/**
 * The number of events that each successive call of a read requests.
 * @param limited whether the reader gave a limit
 */
export function* pageSizes(limited: boolean): Generator<number, never> {
  for (let size = limited ? PAGE : FIRST_PAGE; ; size = Math.min(PAGE, size * GROWTH)) yield size;
}

/** The least number of events to request after a page of this size had none of ours. */
export const afterBarren = (asked: number): number => Math.min(PAGE, asked * GROWTH);

/**
 * The events of one finite call, received as fast as they arrive. So the call is closed while the reader works, and a
 * reader that stops leaves nothing open. A stream that does not exist has none.
 * @param timeoutMs longest wait for a slot, and then for each event
 * @throws StoreUnavailable
 */
export const readPage = async <E>(
  slots: CallSlots,
  open: () => ReadCall<ReadAnswer<E>>,
  timeoutMs: number,
): Promise<readonly (E | null)[]> => {
  const release = await slots.take();
  let call: ReadCall<ReadAnswer<E>>;
  try {
    call = open();
  } catch (error) {
    release();
    throw classify(error, false);
  }
  const events: (E | null)[] = [];
  let answers = 0;
  let ended = false;
  try {
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(noAnswer('a read', timeoutMs, false));
      const silent = setTimeout(() => {
        // If the process itself was busy, take the events that have arrived first.
        const seen = answers;
        setImmediate(() => setImmediate(() => (answers > seen ? silent.refresh() : giveUp())));
      }, timeoutMs);
      const endless = setTimeout(giveUp, timeoutMs * STORE_DEFAULTS.wholePageFactor);
      const over = (settle: () => void): void => {
        clearTimeout(silent);
        clearTimeout(endless);
        settle();
      };
      const receive = (stream: ClientReadableStream<ReadAnswer<E>>): void =>
        void stream
          .on('data', ({ event }: ReadAnswer<E>) => {
            answers += 1;
            if (event !== undefined) events.push(event);
            silent.refresh();
          })
          .on('end', () => {
            ended = true;
            over(resolve);
          })
          .on('error', (error) => over(() => reject(error)))
          .on('close', () => over(() => reject(new StoreUnavailable('The read was cut off', false))));
      call.stream.then(receive, (error: unknown) =>
        over(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });
    return events;
  } catch (error) {
    throw classify(error, false);
  } finally {
    // While the client looks for a node, the call has not started: it keeps its slot until it is cancelled.
    if (ended) release();
    else void call.cancel().then(release, release);
  }
};
