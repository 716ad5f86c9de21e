import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { instant } from '#event-sourcing/core/clock.js';
import { runSteps } from '#event-sourcing/projections/statement.js';
import { transaction } from '#platform/postgres/pool.js';
import { reading } from '../../../test/events.js';
import { testDatabase } from '../../../test/postgres.js';
import { eventually } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';
import type { AttemptResult } from '../../domain/attempt.js';
import { noteSkipping, skipNext } from '../skip-pending.js';
import { WorkspaceLeases, type WorkspaceLease } from './workspace-leases.js';
import { OutcomeLog, type FinishedAttempt } from './outcome-log.js';
import { ALL_DELIVERIES, ATTEMPTS } from '../../read-models/delivery-sql.js';

const HOUR = 3_600_000;
const URL = 'http://127.0.0.1:9999/';
const LEASE_MS = 1_000;
const FROM_ATTEMPTS = `from ${ALL_DELIVERIES} cross join lateral (${ATTEMPTS}) attempt`;
const success: AttemptResult = { error: null, statusCode: 204, retryAfterMs: null, responseBody: null };
const failure: AttemptResult = {
  error: 'http_error',
  statusCode: 503,
  retryAfterMs: null,
  responseBody: null,
};

const database = testDatabase();
let leases: WorkspaceLeases;
let outcomes: OutcomeLog;
let endpointId: string;
/** Of one reading, in order. */
let deliveryIds: readonly string[];

beforeEach(async () => {
  await wipe(database);
  leases = new WorkspaceLeases(database.pool, LEASE_MS);
  outcomes = new OutcomeLog(database.pool);
  const service = new TestService(database);
  service.follow();
  ({ endpointId } = await service.create(URL));
  const { completed, published } = reading(randomUUID());
  await service.happen(completed(), published());
  await eventually(async () => (await service.deliveries()).length === 2);
  deliveryIds = (await service.deliveries()).map(({ delivery_id: deliveryId }) => deliveryId);
  await service.stop();
});

/** As the worker that follows the event does, and the one that skips. */
const disable = async (endpointId: string, now: number): Promise<void> => {
  await transaction(database.pool, (client) =>
    runSteps(client, [noteSkipping(endpointId, '99', instant(now))]),
  );
  await skipNext(database.pool);
};

const takeNext = async (now: number): Promise<WorkspaceLease> => {
  const lease = { workspaceId: 'ws_1', lease: randomUUID() };
  await leases.take([lease], now);
  return lease;
};
const attemptIn = (
  { lease }: WorkspaceLease,
  endedAt: number,
  result: AttemptResult,
  backOffMs: number | null = result.error === null ? null : HOUR,
): FinishedAttempt => ({
  deliveryId: deliveryIds[0]!,
  number: 1,
  endpointId,
  url: URL,
  lease,
  startedAt: endedAt,
  endedAt,
  result,
  answer: null,
  nextAt: backOffMs === null ? null : endedAt + backOffMs,
});
const deliveries = async () => {
  const { rows } = await database.pool.query<{
    status: string;
    attempts: number;
    due_at: Date | null;
  }>(`select delivery.status, delivery.attempts, delivery.due_at
    from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id) order by event.sequence`);
  return rows.map(({ due_at: dueAt, ...row }) => ({ ...row, dueAt: dueAt?.getTime() }));
};

describe('A delivery that waits', () => {
  it('for its back-off or for its keys does so whatever its worker does afterwards', async () => {
    const now = Date.now();
    const held = await takeNext(now);
    const attempt = attemptIn(held, now, failure);
    await outcomes.reschedule(attempt, now + 2 * HOUR);
    const putOff = { status: 'pending', attempts: 0, dueAt: now + 2 * HOUR };
    expect(await deliveries()).toMatchObject([putOff, putOff]);
    await outcomes.record(attempt);
    await outcomes.reschedule(attempt, now);
    await outcomes.record({ ...attempt, nextAt: now + 1 });
    await leases.release([held]);
    await outcomes.reschedule({ ...attempt, number: 2 }, now);
    expect(await deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, dueAt: now + HOUR },
      { status: 'pending', attempts: 0, dueAt: now + 2 * HOUR },
    ]);
  });
});

describe('An attempt under way when its endpoint is disabled', () => {
  it.each([
    ['succeeded', success],
    ['failed', failure],
  ])('and %s is in the history of a delivery that stays skipped', async (_, result) => {
    const now = Date.now();
    const held = await takeNext(now);
    await disable(endpointId, now);
    await outcomes.record(attemptIn(held, now, result));
    expect(await deliveries()).toMatchObject([
      { status: 'skipped', attempts: 1 },
      { status: 'skipped', attempts: 0 },
    ]);
    const { rows } = await database.pool.query(`select attempt.error ${FROM_ATTEMPTS}`);
    expect(rows).toEqual([{ error: result.error }]);
  });
});

describe('Outcomes that end together', () => {
  const more = async (count: number): Promise<WorkspaceLease> => {
    await database.pool.query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                      created_at)
       select gen_random_uuid(), endpoint_id, workspace_id, event_id, gen_random_uuid(), 1, 'pending', now(), now()
       from webhooks.delivery cross join generate_series(1, $1) where sequence = 1`,
      [count],
    );
    const { rows } = await database.pool.query<{ delivery_id: string }>(
      'select delivery_id from webhooks.delivery where sequence = 1',
    );
    deliveryIds = rows.map(({ delivery_id: deliveryId }) => deliveryId);
    return takeNext(Date.now());
  };
  const record = (held: WorkspaceLease, results: readonly AttemptResult[]): Promise<unknown> =>
    Promise.all(
      results.map((result, index) =>
        outcomes.record({ ...attemptIn(held, Date.now(), result, null), deliveryId: deliveryIds[index]! }),
      ),
    );

  it('as failures and then a success leave an endpoint that has recovered; the other way, one that fails', async () => {
    const held = await more(5);
    const failing = async (): Promise<number> => {
      const { rows } = await database.pool.query<{ failures: number }>(
        'select consecutive_failures as failures from webhooks.endpoint_health',
      );
      return rows[0]!.failures;
    };
    await record(held, [failure, failure, success]);
    expect(await failing()).toBe(0);
    deliveryIds = deliveryIds.slice(3);
    await record(held, [failure, success, failure]);
    expect(await failing()).toBe(1);
  });
});
