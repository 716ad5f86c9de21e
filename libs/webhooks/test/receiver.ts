import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly path: string;
}

export type Answer = (response: ServerResponse, received: Received, index: number) => void;

export const ok: Answer = (response) => response.writeHead(204).end();
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end('answer');

/** A webhook receiver on this machine. Answers as configured, and records its requests. */
export class Receiver {
  readonly received: Received[] = [];
  readonly sockets = new Set<Socket>();
  /** Requests in progress, now and at most. */
  open = 0;
  mostOpen = 0;
  answer: Answer = ok;
  private constructor(private readonly server: Server) {}

  static async start(answer: Answer = ok): Promise<Receiver> {
    const server = createServer();
    // A slow machine may take seconds from one request on a connection to the next.
    server.keepAliveTimeout = 60_000;
    const receiver = new Receiver(server);
    receiver.answer = answer;
    server.on('request', (request, response) => void receiver.handle(request, response));
    server.on('connection', (socket) => receiver.sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.once('close', () => (this.open -= 1));
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const received = {
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks),
      path: request.url ?? '',
    };
    const index = this.received.push(received) - 1;
    this.answer(response, received, index);
  }
}

/** How long a test waits for an event without a promised time. Generous: a slow machine is not a failure. */
const PATIENCE_MS = 300_000;

/** Waits until the condition holds; fails after `withinMs`. */
export const eventually = async (
  condition: () => boolean | Promise<boolean>,
  withinMs = PATIENCE_MS,
): Promise<void> => {
  const givesUpAt = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > givesUpAt) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** A clock that a test sets, in milliseconds since the epoch. */
export interface SetClock {
  at: number;
  now(): number;
}

const TICK_MS = 10;

/**
 * Waits until the condition holds, while the clock goes on. A worker that waits long for the processor gives a queue back
 * unsent, and takes it again after a pause. By a clock that stands still, that pause would never end.
 */
export const eventuallyBy = (clock: SetClock, condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(() => {
    clock.at += TICK_MS;
    return condition();
  });
