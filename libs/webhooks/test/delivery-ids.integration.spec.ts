import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../../../test/support/fresh-database.js';

let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let client: pg.Client;
beforeAll(async () => {
  postgres = await freshDatabase();
  client = new pg.Client({ connectionString: postgres.applicationUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await postgres.stop();
});

const AT = '2026-11-27T12:34:56.789Z';
const idOf = async (endpointId: string, eventId: string, at: string): Promise<string> => {
  const { rows } = await client.query<{ id: string }>('select webhooks.delivery_id($1, $2, $3) as id', [
    endpointId,
    eventId,
    at,
  ]);
  return rows[0]!.id;
};

it('The id of a delivery is a UUID of version 8, the same each time, and another for each endpoint and event', async () => {
  const id = await idOf('we_1', 'evt_1', AT);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(await idOf('we_1', 'evt_1', AT)).toBe(id);
  expect(await idOf('we_2', 'evt_1', AT)).not.toBe(id);
  expect(await idOf('we_1', 'evt_2', AT)).not.toBe(id);
});

it('It begins with the milliseconds of its event, so that later ones come behind it in an index', async () => {
  const milliseconds = (await idOf('we_1', 'evt_1', AT)).replaceAll('-', '').slice(0, 12);
  expect(parseInt(milliseconds, 16)).toBe(Date.parse(AT));
  const ids = [];
  for (const at of ['1970-01-01T00:00:00Z', '2026-01-01T00:00:00Z', AT, '2106-02-07T06:28:16Z'])
    ids.push(await idOf('we_1', 'evt_1', at));
  expect(ids.toSorted()).toEqual(ids);
});
