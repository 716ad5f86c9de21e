import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config/settings.js';
import { addressKey } from '../../rate-limit/address.js';

export type ConnectionLimits = Pick<
  Config,
  | 'HTTP_CONNECTIONS'
  | 'HTTP_CONNECTIONS_PER_ADDRESS'
  | 'HTTP_WAITING_REQUESTS'
  | 'HTTP_ANSWER_TIMEOUT_MS'
  | 'TRUSTED_PROXIES'
>;

export type Begin = (request: IncomingMessage, response: ServerResponse) => void;
export type CutReason = 'connections' | 'waiting' | 'unread';

interface Connection {
  /** The answer in progress. */
  current: ServerResponse | null;
  waiting: [IncomingMessage, ServerResponse][];
  /** An answer that the client has not received yet, and since when (ms). */
  untaken: ServerResponse | null;
  untakenSince: number;
}

/** How often to check for answers that clients do not receive (ms). */
const LOOK_EVERY_MS = 500;

/** Makes Node's parser ignore the rest of the data it has read, as after a protocol upgrade. */
const LEAVE_THE_REST = 2;

/**
 * Node parses all data it has read (up to 64 KiB or 2,000 requests), even if the connection was cut off at the tenth
 * request. There is no public way to stop it. If a future parser differs, the rest is parsed without use.
 */
const stopParsingWhenCut = (socket: Socket): void => {
  const { parser } = socket as Socket & { parser?: { onIncoming?: (...args: unknown[]) => unknown } };
  const onIncoming = parser?.onIncoming;
  if (!parser || !onIncoming) return;
  parser.onIncoming = (...args) => (socket.destroyed ? LEAVE_THE_REST : onIncoming(...args));
};

/**
 * Bounds what one connection, and one address, can make the process hold in memory. Requests of a connection start one
 * after the other, so that it has one answer in memory. Only a few may wait, and they are dropped when the connection
 * closes. Node would start every pipelined request at once and keep every answer.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  private readonly ofAddress = new Map<string, number>();
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: ConnectionLimits,
    private readonly begin: Begin,
    private readonly onCut: (reason: CutReason) => void = () => undefined,
  ) {}

  watch(server: Server): void {
    server.maxConnections = this.limits.HTTP_CONNECTIONS;
    server.on('drop', () => this.onCut('connections'));
    server.on('connection', (socket: Socket) => this.admit(socket));
    this.looking = setInterval(() => this.cutUntaken(performance.now()), LOOK_EVERY_MS).unref();
    server.on('close', () => clearInterval(this.looking));
  }

  /** Handles a request whose head has arrived: starts it, queues it, or cuts off the connection. */
  arrived(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.open.get(request.socket);
    if (!connection || request.socket.destroyed) return;
    if (connection.current === null) this.next(connection, request, response);
    else if (connection.waiting.length < this.limits.HTTP_WAITING_REQUESTS)
      connection.waiting.push([request, response]);
    else this.cut(request.socket, 'waiting');
  }

  /** Whether other requests wait behind the current one. */
  hasWaiting(socket: Socket): boolean {
    return (this.open.get(socket)?.waiting.length ?? 0) > 0;
  }

  private next(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.current = response;
    response.once('close', () => {
      connection.current = null;
      const following = request.socket.destroyed ? undefined : connection.waiting.shift();
      if (following) this.next(connection, ...following);
    });
    this.begin(request, response);
  }

  private admit(socket: Socket): void {
    // Behind proxies, connections belong to the proxies, not to callers.
    const address =
      this.limits.TRUSTED_PROXIES > 0 ? null : (addressKey(socket.remoteAddress ?? '') ?? 'unknown');
    if (address !== null) {
      const count = this.ofAddress.get(address) ?? 0;
      if (count >= this.limits.HTTP_CONNECTIONS_PER_ADDRESS) return this.cut(socket, 'connections');
      this.ofAddress.set(address, count + 1);
    }
    stopParsingWhenCut(socket);
    this.open.set(socket, { current: null, waiting: [], untaken: null, untakenSince: 0 });
    socket.once('close', () => {
      const connection = this.open.get(socket);
      if (connection) connection.waiting = [];
      this.open.delete(socket);
      if (address !== null) this.release(address);
    });
  }

  private release(address: string): void {
    const left = (this.ofAddress.get(address) ?? 1) - 1;
    if (left > 0) this.ofAddress.set(address, left);
    else this.ofAddress.delete(address);
  }

  private cutUntaken(now: number): void {
    for (const [socket, connection] of this.open) {
      const { current } = connection;
      // One that is streamed, such as a file, is not ended while its bytes wait for the caller.
      const waits = current !== null && (current.writableEnded || current.writableLength > 0);
      const given = waits && !current.writableFinished ? current : null;
      if (given === null || given !== connection.untaken) {
        connection.untaken = given;
        connection.untakenSince = now;
      } else if (now - connection.untakenSince > this.limits.HTTP_ANSWER_TIMEOUT_MS) {
        this.cut(socket, 'unread');
      }
    }
  }

  private cut(socket: Socket, reason: CutReason): void {
    this.onCut(reason);
    socket.resetAndDestroy();
  }
}
