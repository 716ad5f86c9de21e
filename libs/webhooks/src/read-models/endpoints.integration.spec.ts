import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabase } from '../../test/postgres.js';
import { wipe } from '../../test/service.js';
import { QueueHealth } from './endpoints.js';
import { WebhookMetrics } from '../webhook-metrics.js';
import { ListWebhookEndpoints } from '../contracts/index.js';

const database = testDatabase();

describe('With a few deliveries', () => {
  const MINUTE = 60_000;
  const now = Date.now();
  const at = (minutes: number): string => new Date(now + minutes * MINUTE).toISOString();
  beforeEach(async () => wipe(database));

  const add = async (
    endpointId: string,
    { enabled = true, failures = 0, probeAt = null as string | null, due = [] as readonly string[] },
  ): Promise<void> => {
    const { pool } = database;
    await pool.query(
      `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, enabled, secrets, revision, created_at, updated_at)
     values ($1, 'ws_1', 'https://receiver.example/', '{}', $2, '[]', 0, now(), now())`,
      [endpointId, enabled],
    );
    await pool.query('insert into webhooks.endpoint_health values ($1, $2, now(), $3)', [
      endpointId,
      failures,
      probeAt,
    ]);
    for (const dueAt of due)
      await pool.query(
        `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at, created_at)
       values ($1, $2, 'ws_1', 'evt_1', $1, 1, 'pending', $3, now())`,
        [randomUUID(), endpointId, dueAt],
      );
  };
  const gauges = async (): Promise<Record<string, number>> => {
    const registry = new Registry();
    new WebhookMetrics(database.pool, registry);
    const text = await registry.metrics();
    return Object.fromEntries(
      [...text.matchAll(/^(webhook_(?:deliveries|oldest)\w+) ([\d.]+)$/gm)].map(([, name, value]) => [
        name!,
        Number(value),
      ]),
    );
  };

  describe('The gauges of due deliveries', () => {
    it('show which could be sent now, and for how long', async () => {
      await add('we_late', { due: [at(-5), at(-2), at(10)] });
      await add('we_failing', { failures: 9, due: [at(-1)] });
      await add('we_off', { enabled: false, due: [at(-60)] });
      const { webhook_oldest_due_seconds: oldest, ...counts } = await gauges();
      expect(counts).toEqual({ webhook_deliveries_due: 3, webhook_deliveries_held_back: 0 });
      expect(oldest).toBeGreaterThanOrEqual(300);
      expect(oldest).toBeLessThan(600);
    });

    it('count separately what waits for the probe of an endpoint that keeps failing', async () => {
      await add('we_dead', { failures: 12, probeAt: at(4), due: [at(-600), at(-500)] });
      expect(await gauges()).toEqual({
        webhook_deliveries_due: 0,
        webhook_deliveries_held_back: 2,
        webhook_oldest_due_seconds: 0,
      });
    });
  });
});

describe('The health of an endpoint, from the sums of hours', () => {
  const BUSY = 'we_busy';
  const clock = { now: () => Date.parse('2026-04-04T12:30:00Z') };
  const sum = (endpointId: string, hour: string, outcome: string, attempts: number, lastAt = hour) =>
    database.pool.query(
      `insert into webhooks.endpoint_hour (endpoint_id, hour, outcome, attempts, latencies, last_at)
       values ($1, $2, $3, $4, '{}', $5)`,
      [endpointId, hour, outcome, attempts, lastAt],
    );
  const shown = async () => {
    const health = new QueueHealth(database.pool, clock);
    const [listed] = await health.execute(new ListWebhookEndpoints(null, BUSY));
    const { lastSuccessAt, attempts } = await health.of(BUSY);
    expect(listed).toMatchObject({ lastSuccessAt, attempts });
    return { lastSuccessAt, attempts };
  };
  beforeEach(async () => {
    await wipe(database);
    await database.pool.query(
      `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, enabled, secrets, revision, created_at, updated_at)
       values ($1, 'ws_1', 'https://receiver.example/', '{}', true, '[]', 0, now(), now())`,
      [BUSY],
    );
  });

  it('counts 100,000 pending deliveries for its workspace, and all for operators', async () => {
    await database.pool.query(
      `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at, created_at)
       select gen_random_uuid(), $1, 'ws_1', 'evt_1', gen_random_uuid(), n, 'pending', now(), now() from generate_series(1, 100001) n`,
      [BUSY],
    );
    const health = new QueueHealth(database.pool, clock);
    const listed = async (workspaceId: string | null) =>
      (await health.execute(new ListWebhookEndpoints(workspaceId, BUSY)))[0]!.pending;
    expect([(await health.of(BUSY)).pending, await listed('ws_1'), await listed(null)]).toEqual([
      100_000, 100_000, 100_001,
    ]);
  });

  it('has the last success of the newest hour with one', async () => {
    expect(await shown()).toEqual({ lastSuccessAt: null, attempts: {} });
    await sum(BUSY, '2026-03-20T07:00:00Z', 'succeeded', 1, '2026-03-20T07:41:10.200Z');
    await sum(BUSY, '2026-03-19T07:00:00Z', 'succeeded', 1, '2026-03-19T07:59:00Z');
    await sum(BUSY, '2026-04-04T12:00:00Z', 'timeout', 1, '2026-04-04T12:01:00Z');
    expect(await shown()).toEqual({ lastSuccessAt: '2026-03-20T07:41:10.200Z', attempts: { timeout: 1 } });
  });

  it('has the attempts of the hour that has begun and of the 23 before it', async () => {
    await sum(BUSY, '2026-04-03T12:00:00Z', 'succeeded', 1_000);
    await sum(BUSY, '2026-04-03T13:00:00Z', 'timeout', 2);
    await sum(BUSY, '2026-04-03T13:00:00Z', 'succeeded', 30);
    await sum(BUSY, '2026-04-04T12:00:00Z', 'succeeded', 4);
    await sum('we_other', '2026-04-04T12:00:00Z', 'succeeded', 500);
    expect((await shown()).attempts).toEqual({ succeeded: 34, timeout: 2 });
  });
});
