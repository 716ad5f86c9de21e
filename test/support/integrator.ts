import { setTimeout as delay } from 'node:timers/promises';
import { askCompanion } from './companion.js';
import { PATIENT } from './patience.js';
import type { Receiver } from './start-receiver.js';
import type { Stack } from './start-stack.js';

/** The members of a reading that tests use. Specs assert the full contract where it matters. */
export interface Reading {
  readonly readingId: string;
  readonly workspaceId: string;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly document: {
    readonly available: boolean;
    readonly version: number | null;
    readonly publishedAt: string | null;
  };
  readonly error: { readonly code: string; readonly retryable: boolean } | null;
  readonly [field: string]: unknown;
}

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface Balance {
  readonly available: number;
  readonly held: number;
  readonly consumed: number;
}

export const person = (firstName = 'Zoé', locale = 'fr-FR') => ({
  productId: 'theme',
  profileId: 'evan',
  locale,
  name: { firstNames: [firstName], middleNames: ['Marie'], lastNames: ['Lefèvre'] },
  dateOfBirth: '1990-04-12',
  grammaticalProfile: { subjectGender: 'feminine' },
});

/** A customer of a running stack: a workspace with a key, and an integrator's calls. */
export class Integrator {
  private constructor(
    readonly stack: Stack,
    readonly workspaceId: string,
    readonly apiKey: string,
    readonly baseUrl: string,
  ) {}

  /** Opens a workspace, gives it credits, and issues a key. */
  static async open(stack: Stack, credits: number): Promise<Integrator> {
    // The first append to a new EventStoreDB takes long, and a test of the limits begins after this.
    const { workspaceId } = (await stack.ops(['workspace', 'create', '--name', 'Test'], PATIENT)) as {
      workspaceId: string;
    };
    if (credits > 0) {
      const { eventStoreUrl, dataDir } = stack;
      await askCompanion('/credits', { eventStoreUrl, workspaceId, amount: credits, dataDir });
    }
    const { apiKey } = (await stack.ops(['key', 'issue', '--workspace', workspaceId])) as { apiKey: string };
    return new Integrator(stack, workspaceId, apiKey, stack.baseUrl);
  }

  /** The same customer with a test key. */
  inTestMode(): Promise<Integrator> {
    return this.withKey('--mode', 'test');
  }

  /** The same customer with another key. @param options of `ops key issue` */
  async withKey(...options: readonly string[]): Promise<Integrator> {
    const issued = await this.stack.ops(['key', 'issue', '--workspace', this.workspaceId, ...options]);
    const { apiKey } = issued as { apiKey: string };
    return new Integrator(this.stack, this.workspaceId, apiKey, this.baseUrl);
  }

  /** The same customer after a restart of the stack on another port, or at another API process of it. */
  at(stack: Stack, baseUrl = stack.baseUrl): Integrator {
    return new Integrator(stack, this.workspaceId, this.apiKey, baseUrl);
  }

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    {
      body,
      headers = {},
      raw,
    }: { body?: unknown; headers?: Record<string, string>; raw?: string | Buffer } = {},
  ): Promise<Answer<T>> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        'x-api-key': this.apiKey,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload as string }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : { text };
    return { status: response.status, headers: response.headers, body: json as T };
  }

  /** A bearer token of this workspace, as the header that carries it. @param scope of `ops token mint` */
  async bearer(scope: string): Promise<{ readonly authorization: string }> {
    const minted = await this.stack.ops(['token', 'mint', '--workspace', this.workspaceId, '--scope', scope]);
    return { authorization: `Bearer ${(minted as { token: string }).token}` };
  }

  /** Creates a webhook endpoint, whose secret the receiver then knows. @throws Error when it is refused */
  async endpoint(to: Receiver | string, settings: object = {}): Promise<string> {
    const url = typeof to === 'string' ? to : to.url;
    const { status, body } = await this.call<{ endpointId: string; signingSecret: string }>(
      'POST',
      '/api/v1/webhooks',
      { body: { url, ...settings } },
    );
    if (status !== 201) throw new Error(`No endpoint: ${JSON.stringify(body)}`);
    if (typeof to !== 'string') to.secret = body.signingSecret;
    return body.endpointId;
  }

  create(body: unknown = person(), headers: Record<string, string> = {}): Promise<Answer<Reading>> {
    return this.call<Reading>('POST', '/api/v1/readings', { body, headers });
  }

  async reading(readingId: string): Promise<Reading> {
    return (await this.call<Reading>('GET', `/api/v1/readings/${readingId}`)).body;
  }

  /** Orders a reading, and waits until it is published or failed. @throws Error when it is refused @returns its id */
  async published(ordered: object = person()): Promise<string> {
    const { status, body } = await this.create(ordered);
    if (status !== 202) throw new Error(`No reading: ${JSON.stringify(body)}`);
    await this.untilEnded(body.readingId);
    return body.readingId;
  }

  /** Polls until the reading is published or failed. @throws Error when it takes longer than `withinMs` */
  async untilEnded(readingId: string, withinMs = PATIENCE_MS): Promise<Reading> {
    let last: Reading | undefined;
    await until(
      async () => {
        last = await this.reading(readingId);
        return last.status === 'failed' || (last.status === 'completed' && last.document.available);
      },
      () => `reading ${readingId} is ${last?.status}`,
      withinMs,
    );
    return last!;
  }

  /** Polls until the feed, from which receivers are told, has so many events. */
  async untilTold(events: number): Promise<void> {
    const feed = () => this.call<{ data: unknown[] }>('GET', '/api/v1/events?limit=100');
    await until(
      async () => (await feed()).body.data.length >= events,
      () => `${events} events in the feed`,
    );
  }

  async balance(): Promise<Balance> {
    const mode = this.apiKey.startsWith('ek_test_') ? 'test' : 'live';
    const of = ['--workspace', this.workspaceId, '--mode', mode];
    return (await this.stack.ops(['ledger', 'balance', ...of])) as Balance;
  }

  /** Polls until so many credits are consumed: settlement and view follow the readings a moment later. */
  untilConsumed(credits: number): Promise<void> {
    return until(async () => (await this.balance()).consumed === credits, `${credits} credits are consumed`);
  }

  /** The balance once the readings of earlier tests have been paid. */
  async balanceAtRest(): Promise<Balance> {
    await until(async () => (await this.balance()).held === 0, 'no credits are held');
    return this.balance();
  }
}

/** The answer to a request that is sent again, as a client does, while the service says "not yet" (503). */
export const untilServed = async <A extends { readonly status: number }>(
  send: () => Promise<A>,
): Promise<A> => {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await send();
    if (answer.status !== 503 || Date.now() > deadline) return answer;
    await delay(1_000);
  }
};

/** Polls until every consumer of the stack has handled the whole log. */
export const untilHandled = (stack: Pick<Stack, 'ops'>): Promise<void> =>
  until(
    async () => {
      const lag = (await stack.ops(['projections', 'lag'])) as { consumers: readonly { events: number }[] };
      return lag.consumers.every(({ events }) => events === 0);
    },
    () => 'every consumer has handled the log',
  );

/** How long a test waits for an event without a promised time. Generous: a slow machine is not a failure. */
const PATIENCE_MS = 300_000;

/** Polls until the condition is true. An error counts as "not yet". @throws Error naming the condition */
export const until = async (
  condition: () => Promise<boolean> | boolean,
  describe: string | (() => string),
  withinMs = PATIENCE_MS,
): Promise<void> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    if (
      await Promise.resolve()
        .then(condition)
        .catch(() => false)
    )
      return;
    if (Date.now() > deadline)
      throw new Error(`Not within ${withinMs} ms: ${typeof describe === 'string' ? describe : describe()}`);
    await delay(50);
  }
};
