import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../../webhook-verifier/src/index.js';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventuallyBy } from '../../../test/passing-time.js';
import { eventually, ok, status, type Received } from '../../../test/receiver.js';
import { stripe } from '../../../test/stripe.js';

const test = dispatching();

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
    const id = randomUUID();
    await test.database.pool.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key, lookups) values ($1, 'ws_1', '', '{x}')`,
      [id],
    );
    await test.service.happen(reading(id).completed());
    await test.settled(1);
    const bodies = test.receiver.received.map(({ body }) => body.toString());
    expect(bodies[1]).toBe(bodies[0]);
    expect(bodies.map((body) => (JSON.parse(body) as { externalId: unknown }).externalId)).toEqual([
      'order-"4711"',
      'order-"4711"',
      null,
    ]);
    const { rows } = await test.database.pool.query<{ body: string }>(
      'select body from webhooks.public_event',
    );
    expect(rows[0]!.body).not.toMatch(/4711|externalId/);
  });

  it('retries with the same bytes until the receiver answers 2xx', async () => {
    test.start();
    test.receiver.answer = (response, received, index) =>
      (index < 2 ? status(500) : ok)(response, received, index);
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await test.settled(1);
    expect(test.receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual([
      '1',
      '2',
      '3',
    ]);
    expect(new Set(test.receiver.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(await test.service.attempts()).toEqual([
      { number: 1, status_code: 500, error: 'http_error' },
      { number: 2, status_code: 500, error: 'http_error' },
      { number: 3, status_code: 204, error: null },
    ]);
  });

  it('waits as long as Retry-After asks', async () => {
    test.start();
    test.receiver.answer = status(503, { 'retry-after': '3600' });
    await test.service.create(test.receiver.url);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await test.service.attempts()).length === 1);
    const { rows } = await test.database.pool.query<{ seconds: string }>(
      'select extract(epoch from due_at - (select started_at from webhooks.attempt)) as seconds from webhooks.delivery',
    );
    expect(Number(rows[0]!.seconds)).toBeGreaterThanOrEqual(3_600);
    expect(Number(rows[0]!.seconds)).toBeLessThan(3_660);
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
