import { ALL_DELIVERIES } from '#webhooks/read-models/delivery-sql.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, until, untilServed } from '../support/integrator.js';
import { fixture, RECEIVER_SETTINGS, startReceiver, startStack } from '../support/index.js';
import { rounds } from '../support/rounds.js';

/** Calls that a caller with an API key can repeat. */
const REPEATS = rounds(120, 1_000);
const READINGS = 8;
/** Retries after an hour, which is longer than the test. */
const RETRIES = ['0', ...Array<string>(2 * REPEATS).fill('3600000')].join(',');
const ALL = ['missing', 'skipped', 'exhausted', 'succeeded'];

const receiver = fixture(startReceiver);
const stack = fixture(() =>
  startStack({ env: { ...RECEIVER_SETTINGS, WEBHOOK_RETRY_SCHEDULE_MS: RETRIES } }),
);
const customer = fixture(() => Integrator.open(stack, 20 * READINGS));
const events = 2 * READINGS;
let endpointId: string;

beforeAll(async () => {
  // Every attempt fails, and its retry is due in an hour.
  receiver.answer = () => ({ status: 500 });
  const created = await Promise.all(Array.from({ length: READINGS }, () => customer.create()));
  for (const { body } of created) await customer.untilEnded(body.readingId);
  await until(async () => (await rows('webhooks.public_event')) === events, 'all events are there');
  endpointId = await customer.endpoint(receiver);
});

const rows = async (what: string): Promise<number> =>
  (await stack.query(`select from ${what.replace(/^delivery/, ALL_DELIVERIES)}`)).length;
const post = (path: string, body: object = {}) =>
  customer.call('POST', `/api/v1/webhooks/${endpointId}${path}`, { body });
const replay = () => post('/replay', { since: '2020-01-01T00:00:00Z', statuses: ALL });
const statusesOf = (answers: readonly { status: number }[]): readonly number[] => [
  ...new Set(answers.map(({ status }) => status)),
];
const replaysEnded = (): Promise<void> =>
  until(
    async () => (await rows(`webhooks.replay where state in ('queued', 'running')`)) === 0,
    () => 'a replay does not end',
  );

describe('With many repetitions', () => {
  it('concurrent replays are one, and successive ones queue each event once', async () => {
    const together = await Promise.all(Array.from({ length: REPEATS }, replay));
    expect(statusesOf(together).toSorted()).toEqual([202, 409]);
    await replaysEnded();
    const statuses = new Set<number>();
    for (let n = 0; n < REPEATS; n += 1) statuses.add((await replay()).status);
    expect([...statuses].filter((status) => status !== 202 && status !== 409)).toEqual([]);
    await replaysEnded();
    expect(await rows('delivery')).toBe(events);
  });

  it('only a few dry runs may wait, and they add no delivery', async () => {
    const answers = await Promise.all(
      Array.from({ length: REPEATS }, () => post('/replay', { since: '2020-01-01T00:00:00Z', dryRun: true })),
    );
    expect(statusesOf(answers).filter((status) => status !== 202 && status !== 409)).toEqual([]);
    await replaysEnded();
    expect(await rows('delivery')).toBe(events);
  });

  it('a pending redelivery is not repeated', async () => {
    const [some] = await stack.query<{ id: string }>(
      'select delivery_id as id from webhooks.delivery limit 1',
    );
    const path = `/deliveries/${some!.id}/redeliver`;
    const answers = await Promise.all(Array.from({ length: REPEATS }, () => post(path)));
    expect(statusesOf(answers)).toEqual([202]);
    expect(await rows('delivery')).toBe(events + 1);
  });

  it('trials are refused while ten wait, and share one test reading', async () => {
    const answers = [];
    // The first one waits for its reading, which takes long on a slow machine.
    for (let n = 0; n < REPEATS; n += 1) answers.push(await untilServed(() => post('/test')));
    expect(statusesOf(answers).toSorted()).toEqual([202, 429]);
    expect(answers.at(-1)?.body['detail']).toBe(
      '10 trials wait to be sent to this endpoint: its health shows the next attempt',
    );
    expect(await rows('delivery where test')).toBe(10);
    expect(await rows('webhooks.public_event where position is null and reading_id is not null')).toBe(10);
    expect(await rows('webhooks.public_event where livemode and reading_id is not null')).toBe(events);
    expect(await rows('readings.reading where not livemode')).toBe(1);
  });

  it('an endpoint that is disabled, enabled and replayed has one unsent delivery per event', async () => {
    const change = (enabled: boolean) =>
      customer.call('PATCH', `/api/v1/webhooks/${endpointId}`, { body: { enabled } });
    for (let n = 0; n < 4; n += 1) {
      await change(false);
      await until(
        async () => (await rows(`delivery where status = 'pending'`)) === 0,
        () => 'something is pending',
      );
      await change(true);
      await replay();
      await replaysEnded();
    }
    // Attempted deliveries stay as history. Of the others, only the last stays.
    const [unsent] = await stack.query<{ most: number }>(
      `select max(count)::int as most from (
         select count(*) from ${ALL_DELIVERIES} where attempts = 0 and not test group by event_id) unsent`,
    );
    expect(unsent!.most).toBeLessThanOrEqual(1);
  });

  it('refused calls leave no row behind', async () => {
    const tables = ['webhooks.replay', 'delivery', 'webhooks.public_event'];
    const before = await Promise.all(tables.map(rows));
    for (let n = 0; n < 20; n += 1) expect((await post('/replay', { since: 'yesterday' })).status).toBe(400);
    expect(await Promise.all(tables.map(rows))).toEqual(before);
  });
});
