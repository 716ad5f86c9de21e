import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { verifyWebhook } from '../../../../webhook-verifier/src/index.js';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually, ok, status, type Received, Receiver, eventuallyBy } from '../../../test/receiver.js';
import { stripe } from '../../../test/stripe.js';
import { TestService } from '../../../test/service.js';
import { OutcomeLog } from './outcome-log.js';
import { WorkspaceLeases } from './workspace-leases.js';

const test = dispatching();

/** A reading with an external id. */
const referenced = async (): Promise<string> => {
  const readingId = randomUUID();
  await test.database.pool.query(
    `insert into platform.subject_key (subject_id, workspace_id, wrapped_key, lookups) values ($1, 'ws_1', '', '{x}')`,
    [readingId],
  );
  return readingId;
};

describe('The dispatcher', () => {
  it('sends each event once, signed so that both ecosystems verify it with the one secret', async () => {
    test.start();
    const { signingSecret } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await test.settled(1);
    expect(test.receiver.received).toHaveLength(1);
    const [{ headers, body }] = test.receiver.received as [(typeof test.receiver.received)[0]];
    const verified = stripe.constructEvent(body, headers['x-service-signature']!, signingSecret);
    expect(verified).toMatchObject({ type: 'reading.completed', sequence: 1 });
    expect(new Webhook(signingSecret).verify(body, { ...headers })).toEqual(verified);
    expect(verifyWebhook(body, headers, signingSecret)).toEqual(verified);
    const { 'x-service-signature': _, ...standardOnly } = headers;
    expect(verifyWebhook(body, standardOnly, signingSecret)).toEqual(verified);
    const [delivery] = await test.service.deliveries();
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'accept-encoding': 'identity',
      'x-service-event': 'reading.completed',
      'x-service-timestamp': headers['webhook-timestamp'],
      'x-service-event-id': verified.id,
      'x-service-delivery-id': delivery!.delivery_id,
      'x-service-attempt': '1',
      'webhook-id': verified.id,
      host: `127.0.0.1:${test.receiver.port}`,
    });
    expect(headers).not.toHaveProperty('x-service-test');
    expect(headers).not.toHaveProperty('x-service-redelivery');
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('completes a body with the external id at each attempt, and with none after the erasure', async () => {
    const answers = ['order-"4711"', 'order-"4711"', null];
    test.start({ externalId: () => answers.shift() ?? null });
    test.receiver.answer = (response, received, index) =>
      (index < 2 ? status(500) : ok)(response, received, index);
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(await referenced()).completed());
    await test.settled(1);
    const bodies = test.receiver.received.map(({ body }) => body.toString());
    expect(bodies[1]).toBe(bodies[0]);
    const numbers = test.receiver.received.map(({ headers }) => headers['x-service-attempt']);
    expect(numbers).toEqual(['1', '2', '3']);
    expect(bodies.map((body) => (JSON.parse(body) as { externalId: unknown }).externalId)).toEqual([
      'order-"4711"',
      'order-"4711"',
      null,
    ]);
    const { rows } = await test.database.pool.query<{ body: string }>(
      'select body from webhooks.public_event',
    );
    expect(rows[0]!.body).not.toMatch(/order-|externalId/);
  });

  it('also signs with the old secret until the overlap ends, by time alone', async () => {
    const clock = { at: Date.parse('2026-04-04T10:00:00Z'), now: () => clock.at };
    test.start({ clock });
    const { endpointId, signingSecret } = await test.service.create(test.receiver.url);
    const rotated = await test.service.rotate(endpointId, 600);
    const signedAt = async (at: number) => {
      clock.at = at;
      const sofar = test.receiver.received.length;
      await test.service.happen(reading(randomUUID()).completed({ at }));
      await eventuallyBy(clock, () => test.receiver.received.length > sofar);
      return test.receiver.received.at(-1)!;
    };
    const during = await signedAt(clock.at + 300_000);
    for (const secret of [signingSecret, rotated.signingSecret])
      expect(isSignedWith(secret, during, clock.at)).toBe(true);
    const after = await signedAt(clock.at + 300_000);
    expect(isSignedWith(rotated.signingSecret, after, clock.at)).toBe(true);
    expect(isSignedWith(signingSecret, after, clock.at)).toBe(false);
    expect(after.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });
});

const isSignedWith = (secret: string, { body, headers }: Received, at: number): boolean => {
  try {
    stripe.constructEvent(body, headers['x-service-signature']!, secret, 300, undefined, at);
    return true;
  } catch {
    return false;
  }
};

const leases = async (): Promise<readonly (string | null)[]> => {
  const { rows } = await test.database.pool.query<{ lease: string | null }>(
    'select lease from webhooks.workspace_lease',
  );
  return rows.map(({ lease }) => lease);
};

describe('A worker', () => {
  it('takes over from a worker that was killed, once its lease expires', async () => {
    test.service = new TestService(test.database);
    test.service.follow();
    const { endpointId, url } = await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await test.service.deliveries()).length === 1);
    const leases = new WorkspaceLeases(test.database.pool, 1_000);
    const now = Date.now();
    const [lost, other] = [randomUUID(), randomUUID()].map((lease) => ({ workspaceId: 'ws_1', lease }));
    expect(await leases.due(now)).toEqual(['ws_1']);
    expect(await leases.take([lost!], now)).toEqual(new Set(['ws_1']));
    expect(await leases.due(now)).toEqual([]);
    expect(await leases.take([other!], now)).toEqual(new Set());
    const answers: (() => void)[] = [];
    test.receiver.answer = (response) => void answers.push(() => response.writeHead(204).end());
    test.service.dispatch();
    await eventually(() => test.receiver.received.length === 1);
    expect(test.receiver.received[0]!.headers['x-service-attempt']).toBe('1');
    // The worker was late, not dead.
    const deliveryId = (await test.service.deliveries())[0]!.delivery_id;
    const result = { error: 'timeout' as const, statusCode: null, retryAfterMs: null, responseBody: null };
    const late = {
      deliveryId,
      endpointId,
      url,
      lease: lost!.lease,
      number: 1,
      result,
      answer: null,
      nextAt: null,
    };
    await new OutcomeLog(test.database.pool).record({ ...late, startedAt: 0, endedAt: 0 });
    expect(await test.service.deliveries()).toMatchObject([{ status: 'pending', attempts: 0 }]);
    for (const answer of answers) answer();
    await test.settled(1);
    expect(await test.service.deliveries()).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  it('finishes the attempts in flight when it is stopped', async () => {
    test.start();
    let answer = (): void => undefined;
    test.receiver.answer = (response) => (answer = () => response.writeHead(200).end());
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(() => test.receiver.received.length === 1);
    const stopped = test.service.stop();
    await test.service.happen(reading(randomUUID()).completed());
    answer();
    await stopped;
    expect((await test.service.deliveries()).map(({ status: is }) => is)).toEqual(['succeeded']);
    expect(test.receiver.received).toHaveLength(1);
  });

  it('releases its deliveries when it is stopped before the response, for others to send at once', async () => {
    test.start();
    test.receiver.answer = () => undefined;
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(() => test.receiver.received.length === 1);
    expect(await leases()).toEqual([expect.any(String)]);
    await test.service.stop();
    expect(await leases()).toEqual([null]);
    test.receiver.answer = ok;
    test.start();
    await test.settled(1);
    expect(test.receiver.received).toHaveLength(2);
  });
});

describe('The dispatcher', () => {
  it('does not let one reading delay another', async () => {
    test.start({ settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000' } });
    const stuck = randomUUID();
    test.receiver.answer = (response, received, index) =>
      (received.body.includes(stuck) ? status(500) : ok)(response, received, index);
    await test.service.create(test.receiver.url);
    const free = randomUUID();
    await test.service.happen(reading(stuck).completed(), reading(stuck).published());
    await test.service.happen(reading(free).completed(), reading(free).published());
    await test.settled(2);
    expect(test.receiver.received.filter(({ body }) => body.includes(stuck))).toHaveLength(1);
  });

  it('respects the limits per endpoint and per workspace, and treats endpoints fairly', async () => {
    test.start({
      concurrency: { perEndpoint: 3, perWorkspace: 5 },
      workers: 2,
    });
    const other = await Receiver.start();
    const waiting: (() => void)[] = [];
    test.receiver.answer = other.answer = (response) =>
      void waiting.push(() => response.writeHead(200).end());
    await test.service.create(test.receiver.url);
    for (let n = 0; n < 40; n += 1) await test.service.happen(reading(randomUUID()).completed());
    await test.service.create(other.url);
    for (let n = 0; n < 40; n += 1) await test.service.happen(reading(randomUUID()).completed());
    const answerAll = (): void => waiting.splice(0).forEach((answer) => answer());
    // Each answer allows a worker one more. Answers wait until no request comes any more, so that a slow worker has sent all.
    let [open, looks] = [0, 0];
    await eventually(() => {
      const now = test.receiver.open + other.open;
      looks = now === open ? looks + 1 : 0;
      open = now;
      if (open < 5 && looks === 20) answerAll();
      return open === 5;
    });
    expect(Math.min(test.receiver.open, other.open)).toBe(2);
    await eventually(async () => {
      answerAll();
      return (await test.service.deliveries()).every(({ status: is }) => is === 'succeeded');
    });
    expect(test.receiver.received).toHaveLength(80);
    expect(other.received).toHaveLength(40);
    expect(Math.max(test.receiver.mostOpen, other.mostOpen)).toBe(3);
    await other.stop();
  });

  it('never sends an event before the one before it succeeded or was given up, when 30 % fail at random', async () => {
    test.start({ workers: 2, settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,10,10' } });
    let state = 20_261_121;
    const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
    const succeeded = new Set<string>();
    const tries = new Map<string, number>();
    const early: string[] = [];
    const ids = Array.from({ length: 60 }, () => randomUUID());
    let inARow = 0;
    test.receiver.answer = (response, received, index) => {
      const { readingId, sequence } = JSON.parse(received.body.toString()) as {
        readingId: string;
        sequence: number;
      };
      const [own, before] = [`${readingId} ${sequence}`, `${readingId} ${sequence - 1}`];
      if (sequence > 1 && !succeeded.has(before) && tries.get(before) !== 3) early.push(own);
      tries.set(own, (tries.get(own) ?? 0) + 1);
      // One always fails: in some orders of the requests, no other is given up. Too few in a row for a mere probe.
      const fails = readingId === ids[0] || (random() < 0.3 && inARow < 3);
      inARow = fails ? inARow + 1 : 0;
      if (!fails) succeeded.add(own);
      (fails ? status(500) : ok)(response, received, index);
    };
    await test.service.create(test.receiver.url);
    for (const id of ids)
      await test.service.happen(reading(id).delayed(), reading(id).completed(), reading(id).published());
    await test.settled(180);
    expect(early).toEqual([]);
    const gaveUp = (await test.service.deliveries()).filter(({ status: is }) => is === 'exhausted').length;
    expect(succeeded.size + gaveUp).toBe(180);
    expect(gaveUp).toBeGreaterThan(0);
  });
});

describe('Deliveries whose keys cannot be had', () => {
  it('hold up no other delivery of their endpoint, and are sent once the keys are back', async () => {
    let isAway = true;
    // A lease that ends long after this test.
    test.start({
      settings: { WEBHOOK_ATTEMPT_TIMEOUT_MS: '3600000' },
      externalId: () => {
        if (isAway) throw new KeysUnavailable('the key of an epoch is lost');
        return 'order-4711';
      },
    });
    await test.service.create(test.receiver.url);
    const unreadable = await Promise.all(Array.from({ length: 6 }, referenced));
    for (const readingId of unreadable)
      await test.service.happen(reading(readingId).completed(), reading(readingId).published());
    await test.service.happen(...[1, 2, 3].map(() => reading(randomUUID()).completed()));
    await eventually(() => test.receiver.received.length === 3);
    // Put off more than once by now, or about to be: none is a failed attempt.
    // The first of each reading. Its second one waits for it, whether it came before the first was put off or after.
    await eventually(async () => {
      const { rows } = await test.database.pool.query(
        `select distinct reading_id from webhooks.delivery
          where attempts = 0 and due_at > created_at + interval '1 second'`,
      );
      return rows.length === 6;
    });
    isAway = false;
    await test.database.pool.query('update webhooks.delivery set due_at = now()');
    await test.service.idle();
    await test.settled(15);
    expect(await test.service.attempts()).toHaveLength(15);
  });
});
