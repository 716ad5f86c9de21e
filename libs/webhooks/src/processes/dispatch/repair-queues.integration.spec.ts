import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '#event-sourcing/core/clock.js';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { Receiver, eventually } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';
import { repairQueues } from './repair-queues.js';

const IDLE = 'infinity';

let database: TestDatabase;
let service: TestService;
let receiver: Receiver;
let stopping: AbortController;
let repairing: Promise<void>;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  receiver = await Receiver.start();
  service = new TestService(database).start();
  stopping = new AbortController();
  repairing = Promise.resolve();
});
afterEach(async () => {
  stopping.abort();
  await repairing;
  await service.stop();
  await receiver.stop();
});

const failures: unknown[] = [];
const log = { warn: (details: unknown) => void failures.push(details) };
const repair = (): void => {
  repairing = repairQueues(database.pool, systemClock, log as never, 50).run(stopping.signal);
};
/** Inserts a delivery as the previous version did, which left its queue to a trigger. */
const insertAsBefore = async (endpointId: string, due = 'now()'): Promise<void> => {
  const eventId = `evt_${randomUUID()}`;
  await database.pool.query(
    `insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
     values ($1, 'ws_1', $2, 'reading.completed', 1, '{}', now())`,
    [eventId, randomUUID()],
  );
  await database.pool.query(
    `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                    due_at, created_at)
     select gen_random_uuid(), $1, workspace_id, event_id, reading_id, sequence, 'pending', ${due}, occurred_at
     from webhooks.public_event where event_id = $2`,
    [endpointId, eventId],
  );
  await service.idle();
};
const queue = async (): Promise<{ ready_at: string; lease: string | null } | undefined> => {
  const { rows } = await database.pool.query<{ ready_at: string; lease: string | null }>(
    'select ready_at::text, lease from webhooks.lane',
  );
  return rows[0];
};
const isIdle = async (): Promise<boolean> => {
  const found = await queue();
  return found?.ready_at === IDLE && found.lease === null;
};

describe('A delivery inserted by a process of the previous version', () => {
  it('is sent when a worker of this version repairs its queue', async () => {
    const { endpointId } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(isIdle);
    await insertAsBefore(endpointId);
    expect(receiver.received).toHaveLength(1);
    repair();
    await eventually(() => receiver.received.length === 2);
    await eventually(isIdle);
  });

  it('is sent also when its workspace has no queue yet, and the worker started long ago', async () => {
    repair();
    const { endpointId } = await service.create(receiver.url);
    await eventually(async () => (await service.rows.find(endpointId)) !== null);
    expect(await queue()).toBeUndefined();
    await insertAsBefore(endpointId);
    await eventually(() => receiver.received.length === 1);
  });
});

describe('The repair of queues', () => {
  const repairedIn = async (ms: number): Promise<void> => {
    repair();
    await new Promise((resolve) => setTimeout(resolve, ms));
  };

  it('leaves a queue idle whose deliveries are not due, or whose endpoint is only probed', async () => {
    const { endpointId } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(isIdle);
    await database.pool.query(
      `insert into webhooks.endpoint_health values ($1, 12, now(), now() + interval '5 minutes')`,
      [endpointId],
    );
    await insertAsBefore(endpointId);
    await repairedIn(300);
    expect(await isIdle()).toBe(true);
    // In this order: a round in between must find nothing to send either.
    await database.pool.query(`update webhooks.delivery set due_at = now() + interval '1 day'`);
    await database.pool.query('delete from webhooks.endpoint_health');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([await isIdle(), receiver.received.length]).toEqual([true, 1]);
  });

  it('leaves a queue idle whose endpoint is disabled', async () => {
    const { endpointId } = await service.create(receiver.url);
    await service.happen(reading(randomUUID()).completed());
    await eventually(isIdle);
    await service.stop();
    await database.pool.query('update webhooks.endpoint set enabled = false');
    await insertAsBefore(endpointId);
    await repairedIn(300);
    expect(await isIdle()).toBe(true);
  });

  it('logs a round that fails, and repairs with the next', async () => {
    let rounds = 0;
    const query = (): Promise<never> => {
      rounds += 1;
      return Promise.reject(new Error('no such table'));
    };
    repairing = repairQueues({ query } as never, systemClock, log as never, 20).run(stopping.signal);
    await eventually(() => rounds >= 3);
    expect(failures).toEqual([{ loop: 'webhooks.queue-repair', reason: 'no such table', times: 1 }]);
  });
});
