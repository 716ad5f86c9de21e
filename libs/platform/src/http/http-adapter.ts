import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { Counter, type Registry } from 'prom-client';
import type { Config } from '../config/settings.js';
import { addressKey } from '../rate-limit/address.js';

/** What one process takes of connections. Times are in milliseconds. */
export const CONNECTION_LIMITS = {
  /** A connection is closed (408) when it sends the head of a request more slowly. */
  headersTimeout: 8_000,
  /** The same for a whole request: 4 MiB come in this time at 1.1 Mbit/s. */
  requestTimeout: 30_000,
  /** By default, Node checks for late requests only every 30 seconds, whatever their limits. */
  connectionsCheckingInterval: 1_000,
  /**
   * A connection is closed when nothing moves on it for so long in the middle of a request, such as when a caller does not
   * read an answer. Longer than a request is held (`Prefer: wait=60`).
   */
  silence: 90_000,
  /** Open connections; each takes some 20 kB. */
  connections: 10_000,
  /** Open connections of one address, for which a company behind one address has no need. */
  perAddress: 500,
  /** Pipelined requests that wait for an earlier answer. Hardly any client pipelines. */
  waiting: 4,
};

type CutReason = 'connections' | 'waiting';

/**
 * A path has one spelling: neither `/API` nor `/api/` is `/api`. Otherwise an Idempotency-Key would have several
 * scopes.
 */
const strictExpress = (): express.Express => {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  return app;
};

/**
 * The answer to a body of chunks that has not been read ends the connection. Node would read the rest, however many chunks
 * it has, for the sake of the next request on the connection.
 */
const closeUnlessRead = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.headers['transfer-encoding'] === undefined) return;
  response.setHeader('Connection', 'close');
  request.once('end', () => {
    if (!response.headersSent) response.removeHeader('Connection');
  });
};

/** Express on a server that bounds what one connection and one address can make the process hold. */
export class HttpAdapter extends ExpressAdapter {
  /** Connections cut since the start. */
  private readonly cuts: Record<CutReason, number> = { connections: 0, waiting: 0 };
  private readonly limits: typeof CONNECTION_LIMITS;

  /** @param limits other than the usual ones, for tests */
  constructor(
    private readonly config: Pick<Config, 'HTTP_KEEP_ALIVE_MS' | 'TRUSTED_PROXIES'>,
    limits: Partial<typeof CONNECTION_LIMITS> = {},
  ) {
    super(strictExpress());
    this.limits = { ...CONNECTION_LIMITS, ...limits };
  }

  override initHttpServer(): void {
    const { headersTimeout, requestTimeout, connectionsCheckingInterval, silence, connections } = this.limits;
    const keepAliveTimeout = this.config.HTTP_KEEP_ALIVE_MS;
    const listener = this.oneAtATime(this.getInstance<RequestListener>());
    const server = createServer(
      { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval },
      listener,
    );
    // Node would answer 417.
    server.on('checkExpectation', listener);
    server.timeout = silence;
    server.maxConnections = connections;
    server.on('drop', () => (this.cuts.connections += 1));
    // Behind proxies, connections belong to the proxies, not to callers.
    if (this.config.TRUSTED_PROXIES === 0) this.limitAddresses(server);
    this.setHttpServer(server);
  }

  measure(registry: Registry): void {
    const { cuts } = this;
    new Counter({
      name: 'http_connections_cut_total',
      help: 'Connections closed: too many (connections), or too many pipelined requests on one (waiting)',
      labelNames: ['reason'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(cuts)) this.inc({ reason }, count);
      },
    });
  }

  /**
   * Starts the requests of a connection one after the other. Node would start all that it has parsed, hundreds at a time,
   * and keep every answer. The connection is not paused meanwhile: a paused one does not show that its caller has left.
   */
  private oneAtATime(listener: RequestListener): RequestListener {
    const waiting = new WeakMap<Socket, (() => void)[]>();
    return (request, response) => {
      const { socket } = request;
      // Node has parsed all that it has read, even if the connection was cut after the first of it.
      if (socket.destroyed) return;
      const start = (): void => {
        response.once('close', () => {
          const next = socket.destroyed ? undefined : waiting.get(socket)?.shift();
          if (next) next();
          else waiting.delete(socket);
        });
        closeUnlessRead(request, response);
        listener(request, response);
      };
      const queue = waiting.get(socket);
      if (queue && queue.length >= this.limits.waiting) this.cut(socket, 'waiting');
      else if (queue) queue.push(start);
      else {
        waiting.set(socket, []);
        start();
      }
    };
  }

  private limitAddresses(server: Server): void {
    const open = new Map<string, number>();
    const add = (address: string, change: number): void => {
      const count = (open.get(address) ?? 0) + change;
      if (count > 0) open.set(address, count);
      else open.delete(address);
    };
    server.on('connection', (socket: Socket) => {
      const address = addressKey(socket.remoteAddress ?? '') ?? 'unknown';
      if ((open.get(address) ?? 0) >= this.limits.perAddress) return this.cut(socket, 'connections');
      add(address, 1);
      socket.once('close', () => add(address, -1));
    });
  }

  private cut(socket: Socket, reason: CutReason): void {
    this.cuts[reason] += 1;
    socket.resetAndDestroy();
  }
}
