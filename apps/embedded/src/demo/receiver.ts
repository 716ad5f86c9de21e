import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '@reading-service/webhook-verifier';

/** The members of a webhook body that a receiver needs. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly readingId: string;
  readonly sequence: number;
}

export interface ReceivedWebhook {
  /** Path and query of the request. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  readonly event: WebhookEvent;
  readonly receivedAt: Date;
  /** Whether the signature was valid under the receiver's secret on arrival. */
  readonly verified: boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** The receiver's response, immediate or later; 204 by default. */
export type Answer = (webhook: ReceivedWebhook) => Reply | Promise<Reply>;

const POLL_MS = 20;

/** A webhook receiver on this machine. It keeps all webhooks in order and verifies every signature. */
export class Receiver {
  readonly received: ReceivedWebhook[] = [];
  /** The endpoint's `signingSecret`; set after the endpoint is created. */
  secret = '';
  answer: Answer = () => ({ status: 204 });

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const receiver = new Receiver(server, `http://127.0.0.1:${port}/webhooks`);
    server.on('request', (request, response) => {
      receiver.take(request).then(
        ({ status, headers }) => response.writeHead(status, headers).end(),
        () => response.writeHead(400).end(),
      );
    });
    return receiver;
  }

  /**
   * Waits for a matching webhook, which may have arrived already.
   * @throws Error that names the missing webhook, after `withinMs`
   */
  async waitFor(
    fits: (webhook: ReceivedWebhook) => boolean,
    withinMs: number,
    what = 'a webhook',
  ): Promise<ReceivedWebhook> {
    for (const deadline = Date.now() + withinMs; ; await sleep(POLL_MS)) {
      const found = this.received.find(fits);
      if (found) return found;
      if (Date.now() >= deadline) throw new Error(`${what} did not arrive within ${withinMs / 1000} s`);
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage): Promise<Reply> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const rawBody = Buffer.concat(chunks);
    const webhook: ReceivedWebhook = {
      path: request.url ?? '/',
      headers: request.headers,
      rawBody,
      event: JSON.parse(rawBody.toString('utf8')) as WebhookEvent,
      receivedAt: new Date(),
      verified: isGenuine(rawBody, request.headers, this.secret),
    };
    this.received.push(webhook);
    return this.answer(webhook);
  }
}

const isGenuine = (rawBody: Buffer, headers: IncomingHttpHeaders, secret: string): boolean => {
  try {
    verifyWebhook(rawBody, headers, secret);
    return true;
  } catch {
    return false;
  }
};
