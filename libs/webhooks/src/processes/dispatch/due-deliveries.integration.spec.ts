import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { TestService, wipe } from '../../../test/service.js';
import { readDue } from './due-deliveries.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
});

/** Deliveries of as many readings, of this event of each, due a microsecond apart. */
const plant = async (
  endpointId: string,
  readings: number,
  { sequence, inReplay = false }: { sequence: number; inReplay?: boolean },
): Promise<void> => {
  await database.pool.query(
    `with event as (
       insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
       select 'evt_' || gen_random_uuid(), 'ws_1', overlay(md5(n::text) placing '4' from 13)::uuid, 'reading.completed',
              $2::integer, '{}', now()
       from generate_series(1, $3::integer) n
       returning event_id, reading_id
     )
     insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                    replay_id, created_at)
     select gen_random_uuid(), $1, 'ws_1', event_id, reading_id, $2::integer, 'pending',
            now() - interval '1 hour' + row_number() over () * interval '1 microsecond',
            case when $4 then gen_random_uuid() end, now()
     from event`,
    [endpointId, sequence, readings, inReplay],
  );
};

const query = { workspaceIds: ['ws_1'], underWay: [], full: [], perEndpoint: 5 };

describe('Reading what is due', () => {
  it('looks at a bounded number of deliveries that earlier ones hold up', async () => {
    const service = new TestService(database);
    service.follow();
    const { endpointId } = await service.create('https://receiver.example/');
    await service.stop();
    const read = async (): Promise<number> => {
      await database.pool.query('analyze webhooks.delivery');
      await readDue(database.pool, query, Date.now());
      const since = performance.now();
      const due = await readDue(database.pool, query, Date.now());
      expect(due).toHaveLength(10);
      expect(due.every(({ replayed }) => !replayed)).toBe(true);
      return performance.now() - since;
    };
    // Each waits for the first delivery of its reading, and an endpoint with a pace sends one of these a second.
    await plant(endpointId, 20, { sequence: 1 });
    await plant(endpointId, 20, { sequence: 2, inReplay: true });
    await read();
    const withFew = await read();
    await wipeDeliveries();
    await plant(endpointId, 30_000, { sequence: 1 });
    await plant(endpointId, 30_000, { sequence: 2, inReplay: true });
    const times = [await read(), await read(), await read()];
    expect(Math.min(...times)).toBeLessThan(withFew + 25);
  });
});

const wipeDeliveries = () => database.pool.query('truncate webhooks.delivery, webhooks.public_event');
