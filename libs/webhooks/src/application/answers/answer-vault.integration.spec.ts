import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { FindAnsweredDelivery } from '../../contracts/deliveries.js';
import { FindAnsweredDeliveryHandler } from '../../read-models/deliveries.js';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { AnswerVault } from '../vaults.js';

const MARKER = 'order-4711 of Eurydice';
const test = dispatching();

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

  it('cannot be read any more once the key of the reading is deleted, although its bytes are there', async () => {
    const readingId = await delivered(500, MARKER);
    expect(await shown()).toEqual([MARKER]);
    await test.service.keys.destroy(readingId);
    expect((await stored())[0]!.answer).not.toBeNull();
    expect(await shown()).toEqual([null]);
  });

  it('to a successful attempt is not stored', async () => {
    await delivered(200, MARKER);
    expect(await stored()).toEqual([{ answer: null }]);
  });

  it('is stored up to 4 KiB', async () => {
    await delivered(500, 'x'.repeat(10_000));
    expect(await shown()).toEqual(['x'.repeat(4_096)]);
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
