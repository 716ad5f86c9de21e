import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { Receiver, eventually } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { requestedBy } from '@app/event-sourcing/core/request-context.js';
import { ALL_DELIVERIES } from '../../read-models/delivery/settled-sql.js';

/** More than are skipped at once. */
const MANY = 12_000;

let database: TestDatabase;
let service: TestService;
let receiver: Receiver;
let rows: DeliveryRows;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  receiver = await Receiver.start();
  service = new TestService(database).start();
  rows = new DeliveryRows(database.pool);
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
});

const addPending = (endpointId: string, workspaceId: string): Promise<unknown> =>
  database.pool.query(
    `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                    due_at, created_at)
     select gen_random_uuid(), $1, $2, 'evt_' || n, gen_random_uuid(), 1, 'pending', now() + interval '1 day', now()
     from generate_series(1, ${MANY}) n`,
    [endpointId, workspaceId],
  );
const count = async (status: string): Promise<number> =>
  (await database.pool.query(`select from ${ALL_DELIVERIES} where status = $1`, [status])).rowCount ?? 0;
const change = (endpointId: string, enabled: boolean, workspaceId = 'ws_1') =>
  service.streams.execute(
    endpointId,
    { type: 'ChangeEndpoint', changes: { enabled }, ifRevision: null },
    { workspaceId, by: requestedBy('apiKey:test', `req_${randomUUID()}`) },
  );
const isEnabled = async (endpointId: string): Promise<boolean | undefined> =>
  (await service.rows.find(endpointId))?.record.enabled;

describe('An endpoint with thousands of pending deliveries that is disabled', () => {
  it('does not delay deliveries to others: most of them are skipped later', async () => {
    const { endpointId } = await service.create(receiver.url, { workspaceId: 'ws_big' });
    await service.create(receiver.url);
    await addPending(endpointId, 'ws_big');
    await change(endpointId, false, 'ws_big');
    await service.happen(reading(randomUUID()).completed());
    await eventually(() => receiver.received.length === 1);
    const skipped = await count('skipped');
    expect(skipped).toBeGreaterThan(0);
    expect(skipped).toBeLessThan(MANY);
    expect(await rows.countSkipped(endpointId)).toBe(MANY);
    await service.skip();
    expect(await count('skipped')).toBe(MANY);
    expect(await rows.countSkipped(endpointId)).toBe(MANY);
  });

  it('gets none of them once it is enabled again, and every later event', async () => {
    const { endpointId } = await service.create(receiver.url);
    await addPending(endpointId, 'ws_1');
    await change(endpointId, false);
    await eventually(async () => (await isEnabled(endpointId)) === false);
    await change(endpointId, true);
    await eventually(async () => (await isEnabled(endpointId)) === true);
    await database.pool.query(`update webhooks.delivery set due_at = now() where status = 'pending'`);
    await service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await count('skipped')) + (await count('pending')) === MANY + 1);
    await service.idle();
    // The new delivery waits until the old ones are gone.
    expect(receiver.received).toEqual([]);
    await service.skip();
    await eventually(() => receiver.received.length === 1);
    await eventually(async () => (await count('succeeded')) === 1);
    expect(await count('skipped')).toBe(MANY);
  });
});
