import { afterAll, expect, it } from '@jest/globals';
import { fixture, sharedStack, startReceiver, type Receiver } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';

interface Delivery {
  readonly deliveryId: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
}
interface Page {
  readonly data: readonly { readonly id: string; readonly type: string; readonly readingId: string }[];
  readonly nextCursor: string;
}

const stack = fixture(sharedStack);
const receivers: Receiver[] = [];
afterAll(async () => {
  for (const receiver of receivers) await receiver.stop();
});

/** A receiver of its own, and its endpoint. */
const endpoint = async (customer: Integrator, settings: object) => {
  const receiver = await startReceiver();
  receivers.push(receiver);
  const endpointId = await customer.endpoint(receiver, settings);
  const path = `/api/v1/webhooks/${endpointId}`;
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
  return { receiver, endpointId, path, deliveries, notices };
};
const feedOf = async (customer: Integrator, query = '') =>
  (await customer.call<Page>('GET', `/api/v1/events?limit=100${query}`)).body;
const asking = (outcome: string) => ({ ...person(), metadata: { test_outcome: outcome } });

it('An operator counts what an endpoint missed, enables it, and replays: same ids, same bytes, in order', async () => {
  const customer = await Integrator.open(stack, 1_000);
  const ops = (command: string, ...args: string[]) => stack.runOps(['webhooks', command, ...args]);
  const report = (command: string, ...args: string[]) => stack.report(['webhooks', command, ...args]);
  /** The feed, as receivers get it, has both events of the reading: a new endpoint is not sent them. */
  const publish = async (): Promise<string> => {
    const readingId = await customer.published();
    const told = async () => (await feedOf(customer)).data.filter((event) => event.readingId === readingId);
    await until(async () => (await told()).length === 2, `reading ${readingId} is in the feed`);
    return readingId;
  };
  const before = await publish();
  const { receiver, endpointId, path } = await endpoint(customer, {});
  const of = ['--endpoint', endpointId];
  await customer.call('PATCH', path, { body: { enabled: false } });
  const during = await publish();
  const disabled = async () =>
    (await ops('list', '--workspace', customer.workspaceId, '--state', 'disabled')).stdout;
  await until(async () => (await disabled()).includes(endpointId), 'the endpoint is listed');

  const replay = [...of, '--since', '2026-01-01'];
  const counted = await ops('replay', ...replay);
  expect(counted).toMatchObject({ code: 0, stderr: '' });
  expect(counted.stdout).toMatch(/^4 events would be sent: add --yes/);
  expect(receiver.received).toEqual([]);
  expect(await ops('replay', ...replay, '--yes', '--json')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'The endpoint is disabled: enable it first.\n',
  });
  expect(await report('health', ...of)).toMatchObject({
    endpoints: { ok: 0, failing: 0, disabled: 1 },
    troubled: [{ endpoint: { endpointId } }],
  });
  expect((await ops('enable', ...of)).stdout).toMatch(/^Enabled; 2 deliveries were skipped/);

  const sent = { code: 0, dryRun: false, state: 'finished', events: 4 };
  expect(await report('replay', ...replay, '--yes')).toMatchObject(sent);
  await until(
    () => receiver.received.length === 4,
    () => `${receiver.received.length} of 4 arrived`,
  );
  // An outcome is recorded after the receiver has answered.
  const health = async () => (await ops('health', ...of)).stdout;
  await until(async () => (await health()).includes('4 succeeded'), 'four outcomes are recorded');
  const byId = new Map((await feedOf(customer)).data.map((event) => [event.id, JSON.stringify(event)]));
  for (const { event, rawBody, verified } of receiver.received)
    expect([verified, rawBody.toString('utf8')]).toEqual([true, byId.get(event.id)]);
  for (const readingId of [before, during]) {
    const own = receiver.received.filter(({ event }) => event.readingId === readingId);
    expect(own.map(({ event }) => event.sequence)).toEqual([1, 2]);
  }
  const { deliveries } = (await stack.ops(['events', '--reading', during])) as {
    deliveries: { eventType: string; endpointId: string; status: string; attempts: number }[];
  };
  expect(
    deliveries.map(({ eventType, status, attempts }) => [eventType, status, attempts]).toSorted(),
  ).toEqual(
    ['reading.completed', 'reading.published'].flatMap((type) => [
      [type, 'skipped', 0],
      [type, 'succeeded', 1],
    ]),
  );
  expect((await ops('replay', ...replay, '--statuses', 'succeeded')).stdout).toMatch(/^4 events/);
  const total = { attempts: { succeeded: 4 } };
  expect(await report('stats', ...of)).toMatchObject({ state: 'ok', verification: null, total });
  expect((await ops('stats', ...of)).stdout).toMatch(/^total +4 +0 /m);
});

it('The end of a batch is told once to the endpoints that asked for it, of its mode', async () => {
  const live = await Integrator.open(stack, 100);
  const test = await live.inTestMode();
  const told = await endpoint(live, { notices: ['batch.ended'] });
  const untold = await endpoint(live, {});
  const tested = await endpoint(test, { notices: ['batch.ended'], events: ['reading.failed'] });
  const order = async (customer: Integrator, readings: readonly object[]) => {
    const body = { mode: 'available', readings };
    return (await customer.call<{ batchId: string }>('POST', '/api/v1/readings/bulk', { body })).body.batchId;
  };
  const inTest = await order(test, [asking('failed:timed_out'), asking('publication_late:2')]);
  const batchId = await order(live, [person(), person('Léa'), { ...person(), dateOfBirth: 'never' }]);
  await until(() => told.notices().length > 0 && tested.notices().length > 0, 'both batches end');

  const batch = await live.call('GET', `/api/v1/batches/${batchId}`);
  const counts = { items: 3, refused: 1, published: 2, failed: 0, erased: 0, notAccepted: 0 };
  const links = { batch: `/api/v1/batches/${batchId}` };
  const data = { endedAt: batch.body['endedAt'], counts, links };
  const body = expect.objectContaining({ type: 'batch.ended', livemode: true, batchId, data });
  expect(told.notices()).toEqual([{ type: 'batch.ended', isEvent: false, verified: true, body }]);
  expect(tested.notices()).toMatchObject([
    {
      verified: true,
      body: { livemode: false, batchId: inTest, data: { counts: { published: 1, failed: 1 } } },
    },
  ]);
  await until(async () => (await untold.deliveries()).length === 4, 'two readings are told');
  expect(untold.notices()).toEqual([]);
  const recorded = async () => (await told.deliveries()).find(({ type }) => type === 'batch.ended');
  await until(async () => (await recorded())?.status === 'succeeded', 'the outcome of the notice');
  expect(await recorded()).toMatchObject({ readingId: null });
});

/** A key that has a little more than fourteen days left when it is issued, however long that takes. */
const issueKeyForFourteenDays = async ({ workspaceId }: Integrator): Promise<void> => {
  for (const seconds of [5, 20, 80]) {
    const warnedAt = Date.now() + seconds * 1_000;
    const expiresAt = new Date(warnedAt + 14 * 86_400_000).toISOString();
    await stack.ops(['key', 'issue', '--workspace', workspaceId, '--label', 'ends', '--expires', expiresAt]);
    if (Date.now() < warnedAt) return;
  }
};

it('A workspace is notified of scarce credits, a disabled endpoint, an expiring key and a finished replay, once each', async () => {
  const customer = await Integrator.open(stack, 100);
  const types = ['credits.low', 'endpoint.disabled', 'key.expiring', 'replay.finished'];
  const told = await endpoint(customer, { notices: types, events: ['reading.delayed'] });
  const gone = await endpoint(customer, { events: ['reading.completed'] });
  gone.receiver.answer = () => ({ status: 410 });
  for (let ordered = 0; ordered < 5; ordered += 1) await customer.create();
  await issueKeyForFourteenDays(customer);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect((await customer.call('POST', `${told.path}/replay`, { body: { since } })).status).toBe(202);

  const arrived = () => told.notices().map(({ type }) => type);
  await until(
    () => types.every((type) => arrived().includes(type)),
    () => `${arrived().join()} arrived`,
  );
  expect(told.notices().every(({ verified, isEvent }) => verified && !isEvent)).toBe(true);
  expect(arrived().toSorted()).toEqual(types);

  const all = await feedOf(customer, `&type=${types.join()}`);
  expect(all.data.map(({ type }) => type).toSorted()).toEqual(types);
  const ids = told.receiver.received.map(({ headers }) => headers['x-service-event-id']);
  expect(all.data.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect((await feedOf(customer, `&type=${types.join()}&cursor=${all.nextCursor}`)).data).toEqual([]);
  const events = (await feedOf(customer)).data;
  expect(events.filter(({ type }) => !type.startsWith('reading.'))).toEqual([]);
  const mixed = await customer.call('GET', '/api/v1/events?type=reading.completed,credits.low');
  expect([mixed.status, mixed.body['errors']]).toMatchObject([400, [{ pointer: '?type' }]]);
});

it('webhook_refused refuses so many attempts, or all, sends nothing meanwhile, and harms no endpoint', async () => {
  const customer = await (await Integrator.open(stack, 0)).inTestMode();
  const { receiver, path, deliveries } = await endpoint(customer, { events: ['reading.completed'] });
  const all = (await customer.create(asking('webhook_refused'))).body.readingId;
  const one = (await customer.create(asking('webhook_refused:1'))).body.readingId;
  await until(() => receiver.received.length > 0, 'the second attempt arrives');
  const attempts = receiver.received.map(({ event, headers }) => [
    event.readingId,
    headers['x-service-attempt'],
  ]);
  expect(attempts).toEqual([[one, '2']]);
  const waiting = async () => (await deliveries()).find(({ status }) => status === 'pending');
  await until(async () => (await waiting())?.attempts === 2, 'the other one is refused again');
  const refused = await waiting();
  expect(refused).toMatchObject({
    readingId: all,
    lastAttempt: { error: 'asked_refusal', statusCode: 503 },
  });
  const { body } = await customer.call('GET', `${path}/health`);
  expect(body).toMatchObject({ state: 'ok', consecutiveFailures: 0, attempts: { asked_refusal: 3 } });
  await customer.call('POST', `${path}/deliveries/${refused!.deliveryId}/redeliver`);
  await until(() => receiver.received.some(({ event }) => event.readingId === all), 'the redelivery');
});
