import type { ChannelInterface } from '@grpc/grpc-js';

/** What one answer of the event store showed of its clock: the `date` header of HTTP. */
export interface ServerTime {
  /** The header, in whole seconds (ms since the epoch). */
  readonly date: number;
  /** When the call began and when the header came, by this process's monotonic clock (ms). */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** A quantity known to lie between two bounds, in milliseconds. */
export interface Interval {
  readonly least: number;
  readonly most: number;
}

/** Servers cut off the fraction of a second, and renew the header once a second. */
const HEADER_AGE_MS = 2_000;
/** The header of a call that waited this long (ms) shows too little. */
const LONGEST_WAIT_MS = 2_000;

/** The store's clock (ms since the epoch) at a moment of this process's monotonic clock. */
export const serverClockAt = ({ date, sentAt, receivedAt }: ServerTime, moment: number): Interval => ({
  least: date + (moment - receivedAt),
  most: date + HEADER_AGE_MS + (moment - sentAt),
});

/** Reports the `date` header of each answer on a channel. A proxy in between may send its own. */
export const observeServerTime = (
  channel: Pick<ChannelInterface, 'createCall'>,
  observe: (time: ServerTime) => void,
): void => {
  const createCall = channel.createCall.bind(channel);
  channel.createCall = (...asked) => {
    const call = createCall(...asked);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      const sentAt = performance.now();
      start(metadata, {
        onReceiveMetadata: (received) => {
          const receivedAt = performance.now();
          const date = Date.parse(String(received.get('date')[0]));
          if (!Number.isNaN(date) && receivedAt - sentAt <= LONGEST_WAIT_MS)
            observe({ date, sentAt, receivedAt });
          listener.onReceiveMetadata(received);
        },
        onReceiveMessage: (message) => listener.onReceiveMessage(message),
        onReceiveStatus: (status) => listener.onReceiveStatus(status),
      });
    };
    return call;
  };
};
