import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, afterEach, beforeEach } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { Receiver, eventually, eventuallyBy, status, type SetClock } from '../../../test/receiver.js';
import { Proxy } from '../../../test/proxy.js';
import { FindAnsweredDelivery } from '../../contracts/index.js';
import { FindAnsweredDeliveryHandler } from '../../read-models/deliveries.js';
import { AnswerVault } from '../../application/vaults.js';

const test = dispatching();

describe('The dispatcher', () => {
  it('disables an endpoint that answers 410, and sends it nothing more', async () => {
    // The fan-out has time to follow before the next attempt is due.
    test.start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,600000' } });
    test.receiver.answer = status(410);
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await test.service.rows.find(endpointId))?.record.enabled === false);
    expect((await test.service.rows.find(endpointId))!.record.health).toMatchObject({
      state: 'disabled',
      disabledReason: 'gone',
    });
    expect(test.service.store.log.at(-1)).toMatchObject({
      type: 'WebhookEndpointDisabled',
      metadata: { actor: 'system:webhooks.dispatcher', workspaceId: 'ws_1' },
    });
    await test.service.happen(reading(randomUUID()).completed());
    await test.settled(2);
    expect((await test.service.deliveries()).map(({ status: is }) => is)).toEqual(['skipped', 'skipped']);
    expect(test.receiver.received).toHaveLength(1);
  });

  it('does not disable an endpoint that moved while its old URL answered 410', async () => {
    test.start();
    const moved = await Receiver.start();
    const answers: (() => void)[] = [];
    test.receiver.answer = (response) => void answers.push(() => response.writeHead(410).end());
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(() => answers.length === 1);
    const context = { workspaceId: 'ws_1', by: requestedBy('apiKey:test', 'req_move') };
    const changes = { url: moved.url, verified: true };
    await test.service.streams.execute(
      endpointId,
      { type: 'ChangeEndpoint', sees: ['live'], changes, ifRevision: null },
      context,
    );
    await eventually(async () => (await test.service.rows.find(endpointId))?.record.url === moved.url);
    // A worker that knows the old URL reads the new one within a second.
    await delay(1_500);
    for (const answer of answers) answer();
    await test.settled(1);
    expect(moved.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
    expect(await test.service.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
    expect((await test.service.rows.find(endpointId))!.record.enabled).toBe(true);
    await moved.stop();
  });
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const clock: SetClock = { at: Date.now(), now: () => clock.at };

it('An endpoint that fails for days is only probed after ten failures, and disabled after 120 hours', async () => {
  test.start({ clock, settings: { WEBHOOK_RETRY_SCHEDULE_MS: Array(10).fill(0).join() } });
  test.receiver.answer = status(500);
  const { endpointId } = await test.service.create(test.receiver.url);
  const health = async () => (await test.service.rows.find(endpointId))!.record.health;
  const arrived = () => test.receiver.received.length;
  await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
  await eventuallyBy(clock, async () => (await health()).consecutiveFailures === 10);
  expect(await test.service.deliveries()).toMatchObject([{ status: 'exhausted', attempts: 10 }]);
  expect(await health()).toMatchObject({ state: 'failing' });

  await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
  await test.service.idle();
  expect(arrived()).toBe(10);
  clock.at += 5 * MINUTE;
  await eventuallyBy(clock, () => arrived() === 11);

  clock.at = Date.parse((await health()).failingSince!) + 120 * HOUR;
  await eventuallyBy(clock, async () => (await health()).state === 'disabled');
  expect(await health()).toMatchObject({ disabledReason: 'failing' });
  await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
  await eventuallyBy(clock, async () => (await test.service.deliveries()).at(-1)?.status === 'skipped');
});

describe('While our own proxy fails', () => {
  const health = async () =>
    (await test.database.pool.query<object>('select * from webhooks.endpoint_health')).rows;

  let proxy: Proxy;
  beforeEach(async () => {
    proxy = await Proxy.start();
  });
  afterEach(() => proxy.stop());

  const REFUSED = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';
  const DELIVERIES = 30;

  it('While our own proxy fails, deliveries wait, no schedule ends, and no endpoint is harmed; then all go out', async () => {
    proxy.refusal = REFUSED;
    test.start({
      settings: {
        WEBHOOK_PROXY_URL: proxy.url(),
        WEBHOOK_RETRY_SCHEDULE_MS: '0',
      },
      disableAfterMs: 1,
    });
    const { endpointId } = await test.service.create(test.receiver.url);
    for (let n = 0; n < DELIVERIES; n += 1) await test.service.happen(reading(randomUUID()).completed());
    // The first, and one after 1, 2 and 4 s.
    await eventually(async () => (await test.service.attempts()).length >= 4);
    const attempts = await test.service.attempts();
    expect(attempts.length).toBeLessThanOrEqual(6);
    expect(attempts.filter(({ error }) => error !== 'proxy_failed')).toEqual([]);
    expect((await test.service.deliveries()).map(({ status }) => status)).toEqual(
      Array(DELIVERIES).fill('pending'),
    );
    expect(await health()).toEqual([]);
    expect((await test.service.rows.find(endpointId))!.record.enabled).toBe(true);
    const { rows } = await test.database.pool.query(
      'select outcome, sum(attempts)::integer as attempts from webhooks.endpoint_hour group by outcome',
    );
    expect(rows).toEqual([{ outcome: 'proxy_failed', attempts: attempts.length }]);
    expect(test.receiver.received).toEqual([]);

    proxy.refusal = null;
    // Those that were tried wait for their next attempt.
    await test.database.pool.query('update webhooks.delivery set due_at = now() where attempts > 0');
    await test.settled(DELIVERIES);
    expect((await test.service.deliveries()).map(({ status }) => status)).toEqual(
      Array(DELIVERIES).fill('succeeded'),
    );
    expect(test.receiver.received).toHaveLength(DELIVERIES);
  });
});

const MARKER = 'order-4711 of Eurydice';

const sql = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  (await test.database.pool.query<Row>(text, [...values])).rows;
const stored = () => sql<{ answer: Buffer | null }>('select answer from webhooks.settled_delivery');

/** Delivers an event of a reading with a key, until it succeeds or all attempts are made. @returns its id */
const delivered = async (status: number, body: string, attempts = 1): Promise<string> => {
  test.start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: Array(attempts).fill(0).join() } });
  test.receiver.answer = (response) => response.writeHead(status).end(body);
  const readingId = randomUUID();
  await test.service.keys.create(readingId, 'ws_1');
  await test.service.create(test.receiver.url);
  await test.service.happen(reading(readingId).completed());
  await test.settled(1);
  return readingId;
};
const shown = async () => {
  const [{ delivery_id: deliveryId } = { delivery_id: '' }] = await test.service.deliveries();
  const handler = new FindAnsweredDeliveryHandler(test.database.pool, test.service.answers);
  return (await handler.execute(new FindAnsweredDelivery(deliveryId)))!.history.map(({ answer }) => answer);
};

describe('What a receiver answers', () => {
  it('to a failed attempt is stored sealed, and opened for operators', async () => {
    await delivered(500, MARKER, 2);
    const [row] = await stored();
    expect(row!.answer!.includes(MARKER)).toBe(false);
    // Of the attempts of a settled delivery, the last one has its answer.
    expect(await shown()).toEqual([null, MARKER]);
  });

  it('to a successful attempt is not stored', async () => {
    await delivered(200, MARKER);
    expect(await stored()).toEqual([{ answer: null }]);
  });

  it('opens only as the answer to its own attempt', async () => {
    const readingId = await delivered(500, MARKER);
    const [{ delivery_id: deliveryId } = { delivery_id: '' }] = await test.service.deliveries();
    const answer = (await stored())[0]!.answer!;
    const of = { deliveryId, attempt: 1, readingId };
    expect(String(await test.service.answers.open(of, answer))).toBe(MARKER);
    await expect(test.service.answers.open({ ...of, attempt: 2 }, answer)).rejects.toThrow('another key');
  });

  it('is dropped for a notice and for an erased reading, and when keys cannot be had; nothing waits for it', async () => {
    await delivered(204, '');
    const of = { deliveryId: randomUUID(), attempt: 1 };
    const answer = Buffer.from(MARKER);
    expect(await test.service.answers.seal({ ...of, readingId: null }, answer)).toBeNull();
    expect(await test.service.answers.seal({ ...of, readingId: randomUUID() }, answer)).toBeNull();
    const away = new AnswerVault({ find: () => Promise.reject(new KeysUnavailable('away')) });
    expect(await away.seal({ ...of, readingId: randomUUID() }, answer)).toBeNull();
  });
});
