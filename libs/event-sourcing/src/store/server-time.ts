import { connect } from 'node:http2';
import { readAddress, type StoreAddress } from './address.js';
import { StoreUnavailable } from './errors.js';
import type { ServerTime, EventStore } from './event-store.js';
import type { StoredEvent } from '../core/event.js';

/** A quantity known to lie between two bounds, in milliseconds. */
export interface Interval {
  readonly least: number;
  readonly most: number;
}

/** Servers cut off the fraction of a second, and renew the header once a second. */
const HEADER_AGE_MS = 2_000;
/** The header of an answer that took this long (ms) shows too little. */
const MAX_WAIT_MS = 2_000;
/** An answer serves for this long (ms), going by the monotonic clock. */
const FRESH_MS = 5_000;

/** The store's clock (ms since the epoch) at a moment of this process's monotonic clock. */
export const serverClockAt = ({ date, sentAt, receivedAt }: ServerTime, moment: number): Interval => ({
  least: date + (moment - receivedAt),
  most: date + HEADER_AGE_MS + (moment - sentAt),
});

/**
 * Reads the store's clock. EventStoreDB has no call for its time, but whatever it answers over HTTP has a date, also
 * without a login.
 * @returns a function that asks at most once in {@link FRESH_MS} while a node shows its clock; `null`: one answered without.
 *   It throws StoreUnavailable when none answers, which says nothing of the clocks
 */
export const readServerTime = (connectionString: string): (() => Promise<ServerTime | null>) => {
  const address = readAddress(connectionString);
  let latest: ServerTime | null = null;
  let asking: Promise<ServerTime | null> | null = null;
  const ask = (): Promise<ServerTime | null> =>
    Promise.any(address.nodes.map((node) => askNode(address, node))).catch(() => {
      throw new StoreUnavailable('No node of the event store shows its clock', false);
    });
  return async () => {
    if (latest && performance.now() - latest.receivedAt < FRESH_MS) return latest;
    asking ??= ask().finally(() => (asking = null));
    return (latest = await asking);
  };
};

const askNode = (address: StoreAddress, node: string): Promise<ServerTime | null> =>
  new Promise<ServerTime | null>((resolve, reject) => {
    const { usesTls } = address;
    const session = connect(`${usesTls ? 'https' : 'http'}://${node}`, usesTls ? address.tls() : {});
    const late = setTimeout(() => session.destroy(new Error('no answer')), MAX_WAIT_MS);
    session
      .on('connect', () => {
        // Its time may have passed before this process came to hear of the connection.
        if (session.destroyed) return;
        const sentAt = performance.now();
        session
          .request({ ':path': '/' })
          .on('response', ({ date = '' }) => {
            const shown = { date: Date.parse(date), sentAt, receivedAt: performance.now() };
            session.destroy();
            resolve(Number.isNaN(shown.date) ? null : shown);
          })
          .on('error', reject);
      })
      .on('error', reject)
      .on('close', () => {
        clearTimeout(late);
        reject(new Error('closed'));
      });
  });

/**
 * How long ago the store recorded an event that was just read (ms): a difference on the store's clock, so that no other
 * machine's clock matters.
 * @param otherwise the time for a store that shows no clock (ms since the epoch)
 */
export const ageOf = async (
  { recordedAt, metadata }: Pick<StoredEvent, 'recordedAt' | 'metadata'>,
  store: Pick<EventStore, 'serverTime'>,
  otherwise = Date.now(),
): Promise<number> => {
  const shown = await store.serverTime().catch(() => null);
  const now = shown ? serverClockAt(shown, performance.now()).least : otherwise;
  return Math.max(0, now - (recordedAt ?? Date.parse(metadata.occurredAt)));
};
