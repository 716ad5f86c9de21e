import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person, until } from '../support/integrator.js';
import { sharedStack, startReceiver, type Receiver, type Stack } from '../support/index.js';

let stack: Stack;
const receivers: Receiver[] = [];

beforeAll(async () => {
  stack = await sharedStack();
});

afterAll(async () => {
  for (const receiver of receivers) await receiver.stop();
  await stack?.stop();
});

interface Delivery {
  readonly deliveryId: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
  readonly lastAttempt: { readonly error: string | null; readonly statusCode: number | null } | null;
}

/** A receiver of its own, and its endpoint. */
const endpoint = async (customer: Integrator, settings: object) => {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const { status, body } = await customer.call<{ endpointId: string; signingSecret: string }>(
    'POST',
    '/api/v1/webhooks',
    { body: { url: receiver.url, ...settings } },
  );
  expect(status).toBe(201);
  receiver.secret = body.signingSecret;
  const path = `/api/v1/webhooks/${body.endpointId}`;
  const deliveries = async (): Promise<readonly Delivery[]> =>
    (await customer.call<{ data: Delivery[] }>('GET', `${path}/deliveries`)).body.data;
  const notices = () =>
    receiver.received
      .filter(({ headers }) => headers['x-service-notice'] !== undefined)
      .map(({ headers, rawBody, verified }) => ({
        type: headers['x-service-notice'],
        isEvent: headers['x-service-event'] !== undefined,
        verified,
        body: JSON.parse(rawBody.toString('utf8')) as { batchId: string },
      }));
  return { receiver, path, deliveries, notices };
};

const order = async (customer: Integrator, readings: readonly object[]) =>
  (
    await customer.call<{ batchId: string }>('POST', '/api/v1/readings/bulk', {
      body: { mode: 'available', readings },
    })
  ).body;
/** The worker is stopped meanwhile: a batch could end before a slow machine looks at it. */
const whileNothingIsMade = async <T>(work: () => Promise<T>): Promise<T> => {
  const { worker } = stack.pids();
  process.kill(worker, 'SIGSTOP');
  try {
    return await work();
  } finally {
    process.kill(worker, 'SIGCONT');
  }
};
const asking = (outcome: string) => ({ ...person(), metadata: { test_outcome: outcome } });

describe('the end of a batch', () => {
  it('is told once to the endpoints that asked for it, of its mode', async () => {
    const live = await Integrator.open(stack, 100);
    const test = await live.inTestMode();
    const told = await endpoint(live, { notices: ['batch.ended'] });
    const untold = await endpoint(live, {});
    const tested = await endpoint(test, { notices: ['batch.ended'], events: ['reading.failed'] });

    const inTest = await whileNothingIsMade(async () => {
      const ordered = await order(test, [asking('failed:timed_out'), asking('publication_late:2')]);
      const open = await test.call('GET', `/api/v1/batches/${ordered.batchId}`);
      expect(open.body).toMatchObject({ endedAt: null });
      return ordered;
    });
    const { batchId } = await order(live, [person(), person('Léa'), { ...person(), dateOfBirth: 'never' }]);
    await until(
      () => told.notices().length > 0 && tested.notices().length > 0,
      () => 'both batches end',
    );

    const batch = await live.call('GET', `/api/v1/batches/${batchId}`);
    const counts = { items: 3, refused: 1, published: 2, failed: 0, erased: 0, notAccepted: 0 };
    const links = { batch: `/api/v1/batches/${batchId}` };
    expect(told.notices()).toEqual([
      {
        type: 'batch.ended',
        isEvent: false,
        verified: true,
        body: expect.objectContaining({
          type: 'batch.ended',
          livemode: true,
          batchId,
          data: { endedAt: batch.body['endedAt'], counts, links },
        }),
      },
    ]);
    expect(tested.notices()).toMatchObject([
      {
        verified: true,
        body: { livemode: false, batchId: inTest.batchId, data: { counts: { published: 1, failed: 1 } } },
      },
    ]);
    await until(
      async () => (await untold.deliveries()).length === 4,
      () => 'two readings are told',
    );
    expect(untold.notices()).toEqual([]);
    // Recorded after the receiver has answered.
    await until(
      async () =>
        (await told.deliveries()).some(({ type, status }) => type === 'batch.ended' && status !== 'pending'),
      () => 'the outcome of the notice is recorded',
    );
    expect(await told.deliveries()).toContainEqual(
      expect.objectContaining({ type: 'batch.ended', readingId: null, status: 'succeeded' }),
    );
  });
});

interface Page {
  readonly data: readonly { readonly id: string; readonly type: string; readonly data: object }[];
  readonly nextCursor: string;
}

/** A key that has a little more than fourteen days left when it is issued, however long that takes. */
const issueKeyForFourteenDays = async ({ workspaceId }: Integrator): Promise<void> => {
  for (const seconds of [5, 20, 80]) {
    const warnedAt = Date.now() + seconds * 1_000;
    const expiresAt = new Date(warnedAt + 14 * 86_400_000).toISOString();
    await stack.ops(['key', 'issue', '--workspace', workspaceId, '--label', 'ends', '--expires', expiresAt]);
    if (Date.now() < warnedAt) return;
  }
};

describe('a workspace', () => {
  it('is notified of scarce credits, a disabled endpoint, an expiring key and a finished replay, once each', async () => {
    const customer = await Integrator.open(stack, 100);
    const types = ['credits.low', 'endpoint.disabled', 'key.expiring', 'replay.finished'];
    const told = await endpoint(customer, { notices: types, events: ['reading.delayed'] });
    const gone = await endpoint(customer, { events: ['reading.completed'] });
    gone.receiver.answer = () => ({ status: 410 });

    for (let ordered = 0; ordered < 5; ordered += 1) await customer.create(person());
    await issueKeyForFourteenDays(customer);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const replay = await customer.call('POST', `${told.path}/replay`, { body: { since } });
    expect(replay.status).toBe(202);

    const arrived = () => told.notices().map(({ type }) => type);
    await until(
      () => types.every((type) => arrived().includes(type)),
      () => `${arrived().join()} arrived`,
      120_000,
    );
    expect(told.notices().every(({ verified, isEvent }) => verified && !isEvent)).toBe(true);
    expect([...arrived()].sort()).toEqual(types);

    const feed = async (query: string) =>
      (await customer.call<Page>('GET', `/api/v1/events?type=${query}`)).body;
    const all = await feed(types.join());
    expect(all.data.map(({ type }) => type).sort()).toEqual(types);
    const ids = told.receiver.received.map(({ headers }) => headers['x-service-event-id']);
    expect(all.data.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect((await feed(`${types.join()}&cursor=${all.nextCursor}`)).data).toEqual([]);
    const events = await customer.call<Page>('GET', '/api/v1/events?limit=100');
    expect(events.body.data.filter(({ type }) => !type.startsWith('reading.'))).toEqual([]);
    const mixed = await customer.call('GET', '/api/v1/events?type=reading.completed,credits.low');
    expect([mixed.status, mixed.body['errors']]).toMatchObject([400, [{ pointer: '?type' }]]);
  });
});

describe('webhook_refused', () => {
  it('refuses so many attempts, or all, sends nothing meanwhile, and harms no endpoint', async () => {
    const customer = await (await Integrator.open(stack, 0)).inTestMode();
    const { receiver, path, deliveries } = await endpoint(customer, { events: ['reading.completed'] });
    const all = (await customer.create(asking('webhook_refused'))).body.readingId;
    const one = (await customer.create(asking('webhook_refused:1'))).body.readingId;
    await until(
      () => receiver.received.length > 0,
      () => 'the second attempt arrives',
    );
    expect(
      receiver.received.map(({ event, headers }) => [event.readingId, headers['x-service-attempt']]),
    ).toEqual([[one, '2']]);
    const refused = { error: 'asked_refusal', statusCode: 503 };
    await until(
      async () => (await deliveries()).some(({ attempts, status }) => status === 'pending' && attempts === 2),
      () => 'the other one is refused again',
    );
    const [waiting] = (await deliveries()).filter(({ status }) => status === 'pending');
    expect(waiting).toMatchObject({ readingId: all, lastAttempt: refused });
    const { body } = await customer.call(`GET`, `${path}/health`);
    expect(body).toMatchObject({ state: 'ok', consecutiveFailures: 0, attempts: { asked_refusal: 3 } });
    await customer.call('POST', `${path}/deliveries/${waiting!.deliveryId}/redeliver`);
    await receiver.waitFor(({ event }) => event.readingId === all, 30_000, 'the redelivery');
  });

  it.each(['webhook_refused:0', 'webhook_refused:6', 'webhook_refused:x'])('%s is none', async (outcome) => {
    const customer = await (await Integrator.open(stack, 0)).inTestMode();
    const { status, body } = await customer.create(asking(outcome));
    expect([status, body['errors']]).toMatchObject([
      400,
      [
        {
          pointer: '/metadata/test_outcome',
          detail: expect.stringContaining('webhook_refused:<attempts, 1 to 5>'),
        },
      ],
    ]);
  });
});
