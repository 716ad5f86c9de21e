import { connect } from 'node:net';

/** A raw TCP connection to the service. */
export interface RawConnection {
  write(bytes: string): void;
  /** Stops reading, as a client does that requests much and reads nothing. */
  stopReading(): void;
  /** Reads until the service closes or is silent. @returns the total of received bytes */
  drain(silentMs: number): Promise<number>;
  /** Resets the connection, as a departing caller does. */
  leave(): void;
  /** Resolves once the service has closed it. */
  readonly closed: Promise<void>;
  isClosed(): boolean;
  /** Status codes received so far, in order. */
  statuses(): readonly number[];
  /** Resolves after that many answers, or when the connection closes. */
  untilAnswers(count: number): Promise<void>;
}

export const rawConnection = async (baseUrl: string): Promise<RawConnection> => {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  let bytes = 0;
  socket.on('data', (data: Buffer) => {
    bytes += data.length;
    received += data.toString('latin1');
  });
  socket.on('error', () => undefined);
  // Not `once` of node:events, which rejects when the service resets the connection.
  const event = (name: string) => new Promise<void>((resolve) => socket.once(name, () => resolve()));
  const closed = event('close');
  await Promise.race([event('connect'), closed]);
  const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
  return {
    write: (text) => void socket.write(text, 'latin1'),
    stopReading: () => void socket.pause(),
    drain: async (silentMs) => {
      socket.resume();
      for (let before = -1; before !== bytes && !socket.destroyed;) {
        before = bytes;
        await new Promise((resolve) => setTimeout(resolve, silentMs));
      }
      return bytes;
    },
    leave: () => void socket.resetAndDestroy(),
    closed,
    isClosed: () => socket.destroyed,
    statuses,
    untilAnswers: async (count) => {
      while (statuses().length < count && !socket.destroyed) {
        await Promise.race([event('data'), closed]);
      }
    },
  };
};

/** The text of a request. */
export const requestText = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: api',
    ...Object.entries({ ...headers, ...(body && { 'content-length': String(Buffer.byteLength(body)) }) }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    '',
    body,
  ].join('\r\n');
