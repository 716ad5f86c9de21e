import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { dispatching } from '../../test/dispatching.js';
import { reading, testReading } from '../../test/events.js';
import { eventually, status } from '../../test/receiver.js';
import { TestService } from '../../test/service.js';
import type { EndpointChanges } from '../domain/webhook-endpoint.decider.js';
import { countSkipped } from '../application/endpoints.js';
import { skipNext } from './skip-pending.js';
import { ALL_DELIVERIES } from '../read-models/delivery-sql.js';

/** More than are skipped at once. */
const MANY = 12_000;
const test = dispatching();
beforeEach(() => {
  test.service = new TestService(test.database);
  test.service.follow();
  test.service.dispatch();
});

const addPending = (endpointId: string, workspaceId: string): Promise<unknown> =>
  test.database.pool.query(
    `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                    due_at, created_at)
     select gen_random_uuid(), $1, $2, 'evt_' || n, gen_random_uuid(), 1, 'pending', now() + interval '1 day', now()
     from generate_series(1, ${MANY}) n`,
    [endpointId, workspaceId],
  );
const count = async (status: string): Promise<number> =>
  (await test.database.pool.query(`select from ${ALL_DELIVERIES} where status = $1`, [status])).rowCount ?? 0;
const changeTo = (endpointId: string, changes: EndpointChanges, workspaceId = 'ws_1') =>
  test.service.streams.execute(
    endpointId,
    { type: 'ChangeEndpoint', sees: ['live'], changes, ifRevision: null },
    { workspaceId, by: requestedBy('apiKey:test', `req_${randomUUID()}`) },
  );
const change = (endpointId: string, enabled: boolean, workspaceId?: string) =>
  changeTo(endpointId, { enabled }, workspaceId);
const notes = async () => (await test.database.pool.query('select from webhooks.skipping')).rowCount;
const isEnabled = async (endpointId: string): Promise<boolean | undefined> =>
  (await test.service.rows.find(endpointId))?.record.enabled;

describe('An endpoint with thousands of pending deliveries that is disabled', () => {
  it('does not delay deliveries to others: a worker skips them in batches', async () => {
    const { endpointId } = await test.service.create(test.receiver.url, { workspaceId: 'ws_big' });
    await test.service.create(test.receiver.url);
    await addPending(endpointId, 'ws_big');
    await change(endpointId, false, 'ws_big');
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(() => test.receiver.received.length === 1);
    expect(await countSkipped(test.database.pool, endpointId)).toBe(MANY);
    await skipNext(test.database.pool);
    const skipped = await count('skipped');
    expect(skipped).toBeGreaterThan(0);
    expect(skipped).toBeLessThan(MANY);
    expect(await countSkipped(test.database.pool, endpointId)).toBe(MANY);
    await test.service.skip();
    expect(await count('skipped')).toBe(MANY);
    expect(await countSkipped(test.database.pool, endpointId)).toBe(MANY);
  });

  it('has no more than its turn: another that was disabled later waits for a batch, not for all', async () => {
    const { endpointId } = await test.service.create(test.receiver.url, { workspaceId: 'ws_big' });
    const { endpointId: other } = await test.service.create(test.receiver.url);
    await addPending(endpointId, 'ws_big');
    await change(endpointId, false, 'ws_big');
    await eventually(async () => (await notes()) === 1);
    await addPending(other, 'ws_1');
    await change(other, false);
    await eventually(async () => (await notes()) === 2);
    const skippedOf = async (id: string) =>
      (await test.database.pool.query('select from webhooks.settled_delivery where endpoint_id = $1', [id]))
        .rowCount;
    await skipNext(test.database.pool);
    await skipNext(test.database.pool);
    expect(await skippedOf(other)).toBeGreaterThan(0);
    expect(await skippedOf(endpointId)).toBe(await skippedOf(other));
  });

  it('gets none of them once it is enabled again, and every later event', async () => {
    const { endpointId } = await test.service.create(test.receiver.url);
    await addPending(endpointId, 'ws_1');
    await change(endpointId, false);
    await eventually(async () => (await isEnabled(endpointId)) === false);
    await change(endpointId, true);
    await eventually(async () => (await isEnabled(endpointId)) === true);
    await test.database.pool.query(`update webhooks.delivery set due_at = now() where status = 'pending'`);
    await test.service.happen(reading(randomUUID()).completed());
    await eventually(async () => (await count('skipped')) + (await count('pending')) === MANY + 1);
    await test.service.idle();
    // The new delivery waits until the old ones are gone.
    expect(test.receiver.received).toEqual([]);
    await test.service.skip();
    await eventually(() => test.receiver.received.length === 1);
    await eventually(async () => (await count('succeeded')) === 1);
    expect(await count('skipped')).toBe(MANY);
  });
});

describe('A live endpoint that is disabled', () => {
  it('is sent no trial that waits, though that is about a test reading', async () => {
    const { endpointId } = await test.service.create(test.receiver.url);
    await test.service.happen(testReading(randomUUID()).completed());
    await eventually(
      async () => (await test.database.pool.query('select from webhooks.public_event')).rowCount === 1,
    );
    await test.database.pool.query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                      test, created_at)
       select gen_random_uuid(), $1, workspace_id, event_id, gen_random_uuid(), 1, 'pending', now() + interval '1 day', true, now()
       from webhooks.public_event`,
      [endpointId],
    );
    await change(endpointId, false);
    await eventually(async () => (await isEnabled(endpointId)) === false);
    await test.service.skip();
    expect([await count('skipped'), await count('pending')]).toEqual([1, 0]);
  });
});

describe('An endpoint that no longer receives live events', () => {
  it('is sent none of those that wait, and still those of its other mode', async () => {
    test.receiver.answer = status(503, { 'retry-after': '3600' });
    const { endpointId } = await test.service.create(test.receiver.url, { modes: ['live', 'test'] });
    await test.service.happen(reading(randomUUID()).completed(), testReading(randomUUID()).completed());
    await eventually(() => test.receiver.received.length === 2);
    await changeTo(endpointId, { modes: ['test'] });
    await eventually(
      async () => (await test.service.rows.find(endpointId))?.record.modes.includes('live') === false,
    );
    await test.service.skip();
    const { rows: left } = await test.database.pool.query(
      `select livemode, status from ${ALL_DELIVERIES} join webhooks.public_event using (event_id) order by livemode`,
    );
    expect(left).toEqual([
      { livemode: false, status: 'pending' },
      { livemode: true, status: 'skipped' },
    ]);
  });
});
