import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { Receiver, eventually, ok, status } from '../../../test/receiver.js';
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
});
