import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually } from '../../../test/receiver.js';
import { TestService } from '../../../test/service.js';

const test = dispatching();
const statuses = async (table: string) => {
  const { rows } = await test.database.pool.query<{ status: string }>(
    `select status from webhooks.${table} order by status`,
  );
  return rows.map(({ status }) => status);
};

it('A delivery whose event was deleted while it was added ends unsent, and keeps nothing else', async () => {
  test.service = new TestService(test.database);
  test.service.follow();
  await test.service.create(test.receiver.url);
  const [gone, kept] = [randomUUID(), randomUUID()];
  await test.service.happen(reading(gone).completed(), reading(kept).completed());
  await eventually(async () => (await statuses('delivery')).length === 2);
  await test.database.pool.query('delete from webhooks.public_event where reading_id = $1', [gone]);

  test.service.dispatch();
  await eventually(async () => (await statuses('delivery')).length === 0);
  expect(await statuses('settled_delivery')).toEqual(['skipped', 'succeeded']);
});
