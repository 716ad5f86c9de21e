import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { verifyWebhook } from '../../../../webhook-verifier/src/index.js';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { Receiver, eventually, ok, status, type Received } from '../../../test/receiver.js';
import { WorkspaceQueues } from './workspace-queues.js';
import { OutcomeLog } from './outcome-log.js';
import { TestService, wipe, type ServiceOptions } from '../../../test/service.js';

let database: TestDatabase;
let service: TestService;
let receiver: Receiver;

const start = (options: ServiceOptions = {}): void => {
  service = new TestService(database, options).start();
};
const settled = (count: number): Promise<void> =>
  eventually(
    async () => (await service.deliveries()).filter(({ status: is }) => is !== 'pending').length === count,
  );

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  receiver = await Receiver.start();
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
});

describe('The dispatcher', () => {
  it('sends each event once, signed so that both ecosystems verify it with the one secret', async () => {
    start();
    const { signingSecret } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await settled(1);
    expect(receiver.received).toHaveLength(1);
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]];
    const verified = new Stripe('sk_unused').webhooks.constructEvent(
      body,
      headers['x-service-signature']!,
      signingSecret,
    );
    expect(verified).toMatchObject({ type: 'reading.completed', sequence: 1 });
    expect(new Webhook(signingSecret).verify(body, { ...headers })).toEqual(verified);
    expect(verifyWebhook(body, headers, signingSecret)).toEqual(verified);
    const { 'x-service-signature': _, ...standardOnly } = headers;
    expect(verifyWebhook(body, standardOnly, signingSecret)).toEqual(verified);
    const [delivery] = await service.deliveries();
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'accept-encoding': 'identity',
      'x-service-event': 'reading.completed',
      'x-service-timestamp': headers['webhook-timestamp'],
      'x-service-event-id': verified.id,
      'x-service-delivery-id': delivery!.delivery_id,
      'x-service-attempt': '1',
      'webhook-id': verified.id,
      host: `127.0.0.1:${receiver.port}`,
    });
    expect(headers).not.toHaveProperty('x-service-test');
    expect(headers).not.toHaveProperty('x-service-redelivery');
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('tries again with the same bytes until the receiver answers 2xx', async () => {
    start();
    receiver.answer = (response, received, index) =>
      (index < 2 ? status(500) : ok)(response, received, index);
    await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await settled(1);
    expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3']);
    expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(await service.attempts()).toEqual([
      { number: 1, status_code: 500, error: 'http_error' },
      { number: 2, status_code: 500, error: 'http_error' },
      { number: 3, status_code: 204, error: null },
    ]);
  });

  it('gives a delivery up after the last attempt, and then sends what had to wait for it', async () => {
    start();
    receiver.answer = (response, received, index) =>
      (received.headers['x-service-event'] === 'reading.completed' ? status(503) : ok)(
        response,
        received,
        index,
      );
    await service.create(receiver.url);
    const { completed, published } = reading(randomUUID());
    await service.happen(completed(), published());
    await settled(2);
    expect(receiver.received.map(({ headers }) => headers['x-service-event'])).toEqual([
      ...Array<string>(4).fill('reading.completed'),
      'reading.published',
    ]);
    expect((await service.deliveries()).map(({ status: is }) => is)).toEqual(['exhausted', 'succeeded']);
  });

  it('does not let one reading hold up another', async () => {
    start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000' } });
    const stuck = randomUUID();
    receiver.answer = (response, received, index) =>
      (received.body.includes(stuck) ? status(500) : ok)(response, received, index);
    await service.create(receiver.url);
    const free = randomUUID();
    await service.happen(reading(stuck).completed(), reading(stuck).published());
    await service.happen(reading(free).completed(), reading(free).published());
    await settled(2);
    expect(receiver.received.filter(({ body }) => body.includes(stuck))).toHaveLength(1);
  });

  it('waits as long as Retry-After asks', async () => {
    start();
    receiver.answer = status(503, { 'retry-after': '3600' });
    await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await service.attempts()).length === 1);
    const { rows } = await database.pool.query<{ seconds: string }>(
      'select extract(epoch from due_at - (select started_at from webhooks.attempt)) as seconds from webhooks.delivery',
    );
    expect(Number(rows[0]!.seconds)).toBeGreaterThanOrEqual(3_600);
    expect(Number(rows[0]!.seconds)).toBeLessThan(3_660);
  });

  it('keeps to the limits per endpoint and per workspace, and is fair over endpoints', async () => {
    start({
      settings: { WEBHOOK_ENDPOINT_CONCURRENCY: '3', WEBHOOK_WORKSPACE_CONCURRENCY: '5' },
      workers: 2,
    });
    const other = await Receiver.start();
    const waiting: (() => void)[] = [];
    receiver.answer = other.answer = (response) => void waiting.push(() => response.writeHead(200).end());
    await service.create(receiver.url);
    for (let n = 0; n < 20; n += 1) await service.happen(reading(randomUUID()).completed());
    await service.create(other.url);
    for (let n = 0; n < 10; n += 1) await service.happen(reading(randomUUID()).completed());
    await eventually(() => receiver.open === 3 && other.open === 2);
    await eventually(async () => {
      waiting.splice(0).forEach((answer) => answer());
      return (await service.deliveries()).every(({ status: is }) => is === 'succeeded');
    });
    expect(receiver.received).toHaveLength(30);
    expect(other.received).toHaveLength(10);
    expect(receiver.mostOpen).toBe(3);
    expect(other.mostOpen).toBeLessThanOrEqual(3);
    await other.stop();
  });

  it('sends the events of one reading in order, whatever happens to the first', async () => {
    start({ workers: 2 });
    const tries = new Map<string, number>();
    receiver.answer = (response, received, index) => {
      const { readingId, sequence } = JSON.parse(received.body.toString()) as {
        readingId: string;
        sequence: number;
      };
      const tried = tries.get(readingId) ?? 0;
      if (sequence === 1) tries.set(readingId, tried + 1);
      return (sequence === 1 && tried < 1 ? status(500) : ok)(response, received, index);
    };
    await service.create(receiver.url);
    // Fewer than make the endpoint one that is only probed.
    const ids = Array.from({ length: 8 }, () => randomUUID());
    for (const id of ids)
      await service.happen(reading(id).delayed(), reading(id).completed(), reading(id).published());
    await settled(24);
    for (const id of ids) {
      const sequences = receiver.received
        .filter(({ body }) => body.includes(id))
        .map(({ body }) => (JSON.parse(body.toString()) as { sequence: number }).sequence);
      expect(sequences).toEqual([...sequences].sort());
      expect(new Set(sequences)).toEqual(new Set([1, 2, 3]));
    }
  });

  it('never sends what follows before the one before it succeeded or was given up, when 30 % fail at random', async () => {
    start({ workers: 2, settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,10,10' } });
    let state = 20_261_121;
    const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
    const succeeded = new Set<string>();
    const tries = new Map<string, number>();
    const early: string[] = [];
    receiver.answer = (response, received, index) => {
      const { readingId, sequence } = JSON.parse(received.body.toString()) as {
        readingId: string;
        sequence: number;
      };
      const [own, before] = [`${readingId} ${sequence}`, `${readingId} ${sequence - 1}`];
      if (sequence > 1 && !succeeded.has(before) && tries.get(before) !== 3) early.push(own);
      tries.set(own, (tries.get(own) ?? 0) + 1);
      const fails = random() < 0.3;
      if (!fails) succeeded.add(own);
      (fails ? status(500) : ok)(response, received, index);
    };
    await service.create(receiver.url);
    const ids = Array.from({ length: 60 }, () => randomUUID());
    for (const id of ids)
      await service.happen(reading(id).delayed(), reading(id).completed(), reading(id).published());
    await settled(180);
    expect(early).toEqual([]);
    const gaveUp = (await service.deliveries()).filter(({ status: is }) => is === 'exhausted').length;
    expect(succeeded.size + gaveUp).toBe(180);
    expect(gaveUp).toBeGreaterThan(0);
  });

  it('takes over from a worker that was killed, once its lease has ended', async () => {
    service = new TestService(database, { settings: { WEBHOOK_LEASE_MS: '1000' } });
    service.follow();
    await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await service.deliveries()).length === 1);
    const queues = new WorkspaceQueues(database.pool, 1_000);
    const [lost] = await queues.claim(1, Date.now());
    expect(await queues.claim(1, Date.now())).toEqual([]);
    const answers: (() => void)[] = [];
    receiver.answer = (response) => void answers.push(() => response.writeHead(204).end());
    service.dispatch();
    await eventually(() => receiver.received.length === 1);
    expect(receiver.received[0]!.headers['x-service-attempt']).toBe('1');
    // The worker was not dead after all, but late.
    const deliveryId = (await service.deliveries())[0]!.delivery_id;
    const { endpointId, url } = lost!.endpoints[0]!;
    const result = { error: 'timeout' as const, statusCode: null, retryAfterMs: null, responseBody: null };
    const late = { deliveryId, endpointId, url, lease: lost!.lease, number: 1, redelivery: false, result };
    await new OutcomeLog(database.pool).failed({ ...late, startedAt: 0, endedAt: 0 }, null);
    expect(await service.deliveries()).toMatchObject([{ status: 'pending', attempts: 0 }]);
    for (const answer of answers) answer();
    await settled(1);
    expect(await service.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  it('finishes what it has begun when told to stop', async () => {
    start();
    let answer = (): void => undefined;
    receiver.answer = (response) => (answer = () => response.writeHead(200).end());
    await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(() => receiver.received.length === 1);
    const stopped = service.stop();
    await service.happen(reading(randomUUID()).completed());
    answer();
    await stopped;
    expect((await service.deliveries()).map(({ status: is }) => is)).toEqual(['succeeded']);
    expect(receiver.received).toHaveLength(1);
  });

  it('gives back what it has when it must stop before the answer comes, for others to send at once', async () => {
    start();
    receiver.answer = () => undefined;
    await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    const leased = async (): Promise<string | null> => {
      const { rows } = await database.pool.query<{ lease: string | null }>(
        'select lease from webhooks.delivery',
      );
      return rows[0]?.lease ?? null;
    };
    // It outlasts its worker's turn, and then the worker.
    await eventually(async () => (await leased()) !== null);
    await service.stop();
    expect(await leased()).toBeNull();
    receiver.answer = ok;
    start();
    await settled(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('leaves a workspace alone whose failing endpoint has nothing more to be sent', async () => {
    start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0' } });
    receiver.answer = status(500);
    await service.create(receiver.url);
    for (let n = 0; n < 10; n += 1) await service.happen(reading(randomUUID()).completed());
    await settled(10);
    await eventually(async () => {
      const { rows } = await database.pool.query(
        `select from webhooks.lane where ready_at = 'infinity' and lease is null`,
      );
      return rows.length === 1;
    });
  });

  it('disables an endpoint that says it is gone, and sends it nothing more', async () => {
    start();
    receiver.answer = status(410);
    const { endpointId } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await service.rows.find(endpointId))?.record.enabled === false);
    expect((await service.rows.find(endpointId))!.record.health).toMatchObject({
      state: 'disabled',
      disabledReason: 'gone',
    });
    expect(service.store.log.at(-1)).toMatchObject({
      type: 'WebhookEndpointDisabled',
      metadata: { actor: 'system:webhooks.dispatcher', workspaceId: 'ws_1' },
    });
    await service.happen(reading(randomUUID()).completed());
    await settled(2);
    expect((await service.deliveries()).map(({ status: is }) => is)).toEqual(['skipped', 'skipped']);
    expect(receiver.received).toHaveLength(1);
  });

  it('leaves an endpoint enabled that was moved while its old URL said it is gone', async () => {
    start();
    const moved = await Receiver.start();
    const answers: (() => void)[] = [];
    receiver.answer = (response) => void answers.push(() => response.writeHead(410).end());
    const { endpointId } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(() => answers.length === 1);
    const by = { workspaceId: 'ws_1', actor: 'apiKey:test', correlationId: 'req_move' };
    const changes = { url: moved.url };
    await service.streams.execute(endpointId, { type: 'ChangeEndpoint', changes, ifRevision: null }, by);
    for (const answer of answers) answer();
    await settled(1);
    expect(moved.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
    expect(await service.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
    expect((await service.rows.find(endpointId))!.record.enabled).toBe(true);
    await moved.stop();
  });

  it('only probes an endpoint after ten failures in a row, and disables it after 120 hours without a success', async () => {
    const clock = { at: Date.parse('2026-04-04T10:00:00Z'), now: () => clock.at };
    start({ clock, settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000,3600000' } });
    receiver.answer = status(500);
    const { endpointId } = await service.create(receiver.url);
    for (let n = 0; n < 10; n += 1) await service.happen(reading(randomUUID()).completed({ at: clock.at }));
    const failures = async () => (await service.rows.find(endpointId))!.record.health.consecutiveFailures;
    await eventually(async () => (await failures()) === 10);
    const later = randomUUID();
    await service.happen(reading(later).completed({ at: clock.at }));
    const probes = () => receiver.received.filter(({ body }) => body.includes(later)).length;
    await eventually(async () => (await service.deliveries()).length === 11);
    expect(await new WorkspaceQueues(database.pool, 1_000).claim(1, clock.at)).toEqual([]);
    expect(probes()).toBe(0);
    clock.at += 300_000;
    await eventually(() => probes() === 1);
    await eventually(async () => (await failures()) === 11);
    clock.at += 120 * 3_600_000;
    await eventually(async () => (await service.rows.find(endpointId))?.record.enabled === false);
    expect(receiver.received).toHaveLength(12);
    expect((await service.rows.find(endpointId))!.record.health.disabledReason).toBe('failing');
  });

  it('forgets failures with the first success', async () => {
    start();
    receiver.answer = (response, received, index) =>
      (index < 3 ? status(500) : ok)(response, received, index);
    const { endpointId } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await service.rows.find(endpointId))!.record.health.state === 'failing');
    await settled(1);
    expect((await service.rows.find(endpointId))!.record.health).toEqual({
      state: 'ok',
      failingSince: null,
      disabledReason: null,
      consecutiveFailures: 0,
    });
  });

  it('signs with the old secret too until the overlap has ended, by time alone', async () => {
    const clock = { at: Date.parse('2026-04-04T10:00:00Z'), now: () => clock.at };
    start({ clock });
    const { endpointId, signingSecret } = await service.create(receiver.url);
    const rotated = await service.rotate(endpointId, 60);
    const signedAt = async (at: number) => {
      clock.at = at;
      const sofar = receiver.received.length;
      await service.happen(reading(randomUUID()).completed({ at }));
      await eventually(() => receiver.received.length === sofar + 1);
      return receiver.received.at(-1)!;
    };
    const during = await signedAt(clock.at + 59_000);
    for (const secret of [signingSecret, rotated.signingSecret])
      expect(isSignedWith(secret, during, clock.at)).toBe(true);
    const after = await signedAt(clock.at + 1_000);
    expect(isSignedWith(rotated.signingSecret, after, clock.at)).toBe(true);
    expect(isSignedWith(signingSecret, after, clock.at)).toBe(false);
    expect(after.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  it('keeps of an answer at most 4 KiB', async () => {
    start();
    receiver.answer = (response) => response.writeHead(200).end('x'.repeat(10_000));
    await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await settled(1);
    const { rows } = await database.pool.query<{ bytes: number }>(
      'select octet_length(response_body) as bytes from webhooks.attempt',
    );
    expect(rows).toEqual([{ bytes: 4_096 }]);
  });
});

const isSignedWith = (secret: string, { body, headers }: Received, at: number): boolean => {
  try {
    new Stripe('sk_unused').webhooks.constructEvent(
      body,
      headers['x-service-signature']!,
      secret,
      300,
      undefined,
      at,
    );
    return true;
  } catch {
    return false;
  }
};
