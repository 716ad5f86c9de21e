import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { instant } from '@app/event-sourcing/core/clock.js';
import { runSteps } from '@app/event-sourcing/projections/statement.js';
import { transaction } from '@app/platform/postgres/pool.js';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { eventually } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';
import type { AttemptResult } from '../../domain/delivery/attempt-result.js';
import { skipPending } from '../skipping/skip-pending.js';
import { Lanes, type TakenLane } from './workspace-queues.js';
import { OutcomeLog, type FinishedAttempt } from './outcome-log.js';

const HOUR = 3_600_000;
const LEASE_MS = 1_000;
const success: AttemptResult = { error: null, statusCode: 204, retryAfterMs: null, responseBody: null };
const failure: AttemptResult = {
  error: 'http_error',
  statusCode: 503,
  retryAfterMs: null,
  responseBody: null,
};

let database: TestDatabase;
let lanes: Lanes;
let outcomes: OutcomeLog;
/** Of one reading, in order. */
let deliveryIds: readonly string[];

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  lanes = new Lanes(database.pool, LEASE_MS);
  outcomes = new OutcomeLog(database.pool);
  const service = new TestService(database);
  service.follow();
  await service.create('http://127.0.0.1:9999/');
  const { completed, published } = reading(randomUUID());
  await service.happen(completed(), published());
  await eventually(async () => (await service.deliveries()).length === 2);
  deliveryIds = (await service.deliveries()).map(({ delivery_id: deliveryId }) => deliveryId);
  await service.stop();
});

const take = async (now: number): Promise<TakenLane> => (await lanes.take(1, now))[0]!;
const attemptIn = (lane: TakenLane, endedAt: number, result: AttemptResult): FinishedAttempt => ({
  deliveryId: deliveryIds[0]!,
  number: 1,
  endpointId: lane.endpoints[0]!.endpointId,
  url: lane.endpoints[0]!.url,
  redelivery: false,
  lease: lane.lease,
  startedAt: endedAt,
  endedAt,
  result,
});
const deliveries = async () => {
  const { rows } = await database.pool.query<{
    status: string;
    attempts: number;
    lease: string | null;
    due_at: Date;
  }>('select status, attempts, lease, due_at from webhooks.delivery order by sequence');
  return rows.map(({ due_at: dueAt, ...row }) => ({ ...row, dueAt: dueAt.getTime() }));
};

describe('A failure', () => {
  it('recorded just before its lane is given back keeps the time of its retry', async () => {
    const now = Date.now();
    const lane = await take(now);
    await outcomes.failed(attemptIn(lane, now, failure), HOUR);
    // As the worker knew it when the turn had ended and the answer had not come.
    const stragglers = [{ deliveryId: deliveryIds[0]!, attempts: 0 }];
    await lanes.giveBack([{ ...lane, stragglers, pauseMs: 0 }], now);
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, lease: null, dueAt: now + HOUR },
      { status: 'pending', attempts: 0, lease: null, dueAt: now + HOUR },
    ]);
  });
});

describe('A worker that lost its lease', () => {
  const health = async () => {
    const { rows } = await database.pool.query<{ consecutive_failures: number }>(
      'select consecutive_failures from webhooks.endpoint_health',
    );
    return rows.map(({ consecutive_failures: failures }) => failures);
  };
  const attempts = async () => {
    const { rows } = await database.pool.query('select delivery_id, error from webhooks.attempt');
    return rows;
  };

  it('holds nothing up with a failure, counts none and keeps no attempt', async () => {
    const now = Date.now();
    const late = await take(now);
    const own = await take(now + LEASE_MS);
    const [, { dueAt }] = (await deliveries()) as [unknown, { dueAt: number }];
    expect(await outcomes.failed(attemptIn(late, now, failure), HOUR)).toBeNull();
    await outcomes.succeeded(attemptIn(own, now, success));
    expect(await outcomes.failed(attemptIn(late, now, failure), HOUR)).toBeNull();
    expect(await deliveries()).toMatchObject([
      { status: 'succeeded', attempts: 1 },
      { status: 'pending', attempts: 0, dueAt },
    ]);
    expect(await health()).toEqual([]);
    expect(await attempts()).toEqual([{ delivery_id: deliveryIds[0], error: null }]);
  });

  it('makes no endpoint well with a success, and keeps no attempt', async () => {
    const now = Date.now();
    const late = await take(now);
    const own = await take(now + LEASE_MS);
    await outcomes.failed(attemptIn(own, now, failure), HOUR);
    expect(await outcomes.succeeded(attemptIn(late, now, success))).toBe(false);
    expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: 1 }, {}]);
    expect(await health()).toEqual([1]);
    expect(await attempts()).toEqual([{ delivery_id: deliveryIds[0], error: 'http_error' }]);
  });
});

describe('An attempt under way when its endpoint moves', () => {
  it('and failed is recorded, and is no failure of the new URL', async () => {
    const now = Date.now();
    const lane = await take(now);
    await database.pool.query(`update webhooks.endpoint set url = 'http://127.0.0.1:9998/'`);
    expect(await outcomes.failed(attemptIn(lane, now, failure), HOUR)).toBeNull();
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, dueAt: now + HOUR },
      { status: 'pending', dueAt: now + HOUR },
    ]);
    const { rows } = await database.pool.query('select * from webhooks.endpoint_health');
    expect(rows).toEqual([]);
  });
});

describe('A delivery that outlasted its turn', () => {
  it('has its outcome recorded, also when its endpoint was disabled meanwhile', async () => {
    const now = Date.now();
    const lane = await take(now);
    const stragglers = [{ deliveryId: deliveryIds[0]!, attempts: 0 }];
    await lanes.giveBack([{ ...lane, stragglers, pauseMs: 0 }], now);
    const { endpointId } = lane.endpoints[0]!;
    await transaction(database.pool, (client) =>
      runSteps(client, skipPending(endpointId, '99', instant(now))),
    );
    await outcomes.succeeded(attemptIn(lane, now, success));
    const { rows } = await database.pool.query('select delivery_id, error from webhooks.attempt');
    expect(rows).toEqual([{ delivery_id: deliveryIds[0], error: null }]);
    expect(await deliveries()).toMatchObject([
      { status: 'skipped', attempts: 1, lease: null },
      { status: 'skipped', attempts: 0 },
    ]);
  });

  it('opens its lane when it ends, also while somebody is giving the lane back', async () => {
    const now = Date.now();
    const lane = await take(now);
    const client = await database.pool.connect();
    try {
      // Whoever gives back has read when the delivery was due before it ended, and has not committed.
      await client.query('begin');
      await client.query(`update webhooks.lane set ready_at = $1, lease = null, leased_until = '-infinity'`, [
        instant(now + HOUR),
      ]);
      const opened = lanes.open(lane.workspaceId, now);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await client.query('commit');
      await opened;
    } finally {
      client.release();
    }
    expect(await lanes.take(1, now)).toMatchObject([{ workspaceId: lane.workspaceId }]);
  });
});

describe('An attempt under way when its endpoint is disabled', () => {
  it.each([
    ['succeeded', (log: OutcomeLog, attempt: FinishedAttempt) => log.succeeded(attempt), success],
    ['failed', (log: OutcomeLog, attempt: FinishedAttempt) => log.failed(attempt, HOUR), failure],
  ] as const)('and %s is in the history of a delivery that stays skipped', async (_, record, result) => {
    const now = Date.now();
    const lane = await take(now);
    await database.pool.query(`update webhooks.delivery set status = 'skipped', settled_at = now()`);
    await record(outcomes, attemptIn(lane, now, result));
    expect(await deliveries()).toMatchObject([
      { status: 'skipped', attempts: 1 },
      { status: 'skipped', attempts: 0 },
    ]);
    const { rows } = await database.pool.query('select error from webhooks.attempt');
    expect(rows).toEqual([{ error: result.error }]);
  });
});
