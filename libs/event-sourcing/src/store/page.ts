import {
  StreamNotFoundError,
  type AllStreamResolvedEvent,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { StoredEvent } from '../core/event.js';
import { classify, noAnswer } from './classify.js';
import type { CallSlots } from './call-slots.js';
import { STORE_DEFAULTS } from './defaults.js';
import { StoreUnavailable } from './errors.js';
import { readMetadata } from './metadata.js';

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
