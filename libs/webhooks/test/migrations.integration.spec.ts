import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '@app/platform/project-path.js';
import { migrate as migrateAll } from '@app/platform/postgres/migrate.js';
import { webhooks } from '../src/manifest.js';
import { eventually } from './receiver.js';
import { startDatabase, type TestDatabase } from './postgres.js';

const MIGRATIONS = projectPath('libs/webhooks/migrations');
const AT = '2026-04-04T09:30:00.000Z';

let database: TestDatabase;
let first: string;

beforeAll(async () => {
  database = await startDatabase();
  first = await mkdtemp(join(tmpdir(), 'webhooks-first-migration-'));
  const [oldest] = (await readdir(MIGRATIONS)).sort();
  await cp(join(MIGRATIONS, oldest!), join(first, oldest!));
});
afterAll(async () => {
  await rm(first, { recursive: true, force: true });
  await database.stop();
});

const migrate = async (dir: string): Promise<void> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const places = { dir, migrationsSchema: 'migrations', migrationsTable: 'webhooks' };
  try {
    await runner({ dbClient: client, direction: 'up', ...places, log: () => undefined });
  } finally {
    await client.end();
  }
};

/** Rows as the first version of this schema left them. */
const fill = async (): Promise<void> => {
  const [one, two] = [randomUUID(), randomUUID()];
  const { pool } = database;
  await pool.query(
    `insert into webhooks.endpoint (endpoint_id, workspace_id, url, events, secrets, revision, created_at, updated_at)
     values ('we_a', 'ws_1', 'https://receiver.example/', '{reading.completed}', '[]', 0, $1, $1),
            ('we_b', 'ws_2', 'https://receiver.example/', '{reading.completed}', '[]', 0, $1, $1)`,
    [AT],
  );
  await pool.query(
    `insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
     values ('evt_1', 'ws_1', $1, 'reading.completed', 1, '{}', $3),
            ('evt_2', 'ws_1', $1, 'reading.published', 2, '{}', $3::timestamptz + interval '1 second'),
            ('evt_3', 'ws_2', $2, 'reading.completed', 1, '{}', $3::timestamptz - interval '1 second'),
            ('evt_trial', 'ws_1', $2, 'reading.failed', 2, '{}', $3)`,
    [one, two, AT],
  );
  await pool.query(
    `insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, due_at,
                                    lease, test, created_at, settled_at)
     select gen_random_uuid(), event.workspace_id_endpoint, event.workspace_id, event.event_id, event.reading_id,
            event.sequence, case when event_id = 'evt_1' then 'succeeded' else 'pending' end,
            occurred_at + sequence * interval '1 minute', case when event_id = 'evt_3' then gen_random_uuid() end,
            event_id = 'evt_trial', occurred_at, case when event_id = 'evt_1' then occurred_at end
     from (select *, case workspace_id when 'ws_1' then 'we_a' else 'we_b' end as workspace_id_endpoint
           from webhooks.public_event) event`,
  );
  await pool.query(
    `insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code)
     select delivery_id, 1, $1, 5, 204 from webhooks.delivery where status = 'succeeded'`,
    [AT],
  );
};

/** Fails when it waits for a lock. */
const insertEvent = async (client: pg.Client, eventId: string): Promise<unknown> => {
  await client.query(`set lock_timeout = '2s'`);
  return client.query(
    `insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
     values ($1, 'ws_1', gen_random_uuid(), 'reading.completed', 1, '{}', $2)`,
    [eventId, AT],
  );
};

describe('The index of the ages of events', () => {
  it('is built beside writers, also after a build that was interrupted', async () => {
    const { pool } = database;
    const client = () => new pg.Client({ connectionString: database.url });
    const [writer, other, interrupted] = [client(), client(), client()];
    await Promise.all([writer, other, interrupted].map((one) => one.connect()));
    await pool.query('drop index if exists webhooks.public_event_age');
    await writer.query('begin');
    await insertEvent(writer, 'evt_open');
    await interrupted.query(`set statement_timeout = '300ms'`);
    await expect(
      interrupted.query(
        `create index concurrently public_event_age on ${webhooks.onlineIndexes['webhooks.public_event_age']}`,
      ),
    ).rejects.toMatchObject({ code: '57014' });

    const building = migrateAll(database.url, [webhooks]);
    await eventually(async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where query like '%index concurrently%public_event_age%' and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await insertEvent(other, 'evt_beside');
    await writer.query('commit');
    await building;
    const { rows } = await pool.query(
      `select indisvalid from pg_index where indexrelid = 'webhooks.public_event_age'::regclass`,
    );
    expect(rows).toEqual([{ indisvalid: true }]);
    await pool.query(`delete from webhooks.public_event`);
    await Promise.all([writer, other, interrupted].map((one) => one.end()));
  });
});

describe('The migrations after the first', () => {
  it('apply to a database in use without losing data', async () => {
    const { pool } = database;
    await pool.query('drop schema webhooks cascade; drop table migrations.webhooks');
    await migrate(first);
    await fill();
    const before = (await pool.query('select delivery_id, status, due_at from webhooks.delivery order by 1'))
      .rows;

    await migrate(MIGRATIONS);

    const { rows: after } = await pool.query(
      'select delivery_id, status, due_at from webhooks.delivery order by 1',
    );
    expect(after).toEqual(before);
    const { rows: feed } = await pool.query(
      'select event_id, position from webhooks.public_event order by position',
    );
    expect(feed).toEqual([
      { event_id: 'evt_3', position: '0' },
      { event_id: 'evt_1', position: '1' },
      { event_id: 'evt_2', position: '2' },
      { event_id: 'evt_trial', position: null },
    ]);
    expect((await pool.query('select endpoint_id from webhooks.attempt')).rows).toEqual([
      { endpoint_id: 'we_a' },
    ]);
    const { rows: lanes } = await pool.query(
      'select workspace_id, ready_at, lease from webhooks.lane order by workspace_id',
    );
    expect(lanes).toEqual([
      { workspace_id: 'ws_1', ready_at: new Date('2026-04-04T09:32:00.000Z'), lease: null },
      { workspace_id: 'ws_2', ready_at: new Date('2026-04-04T09:30:59.000Z'), lease: null },
    ]);
  });

  it('can be reverted and applied again', async () => {
    const { pool } = database;
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const places = { dir: MIGRATIONS, migrationsSchema: 'migrations', migrationsTable: 'webhooks' };
    await runner({ dbClient: client, direction: 'down', count: 8, ...places, log: () => undefined });
    await client.end();
    expect((await pool.query('select from webhooks.delivery')).rowCount).toBe(4);
    await migrate(MIGRATIONS);
    expect((await pool.query('select from webhooks.lane')).rowCount).toBe(2);
  });

  it('leave one running replay per endpoint where there were several', async () => {
    const { pool } = database;
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const places = { dir: MIGRATIONS, migrationsSchema: 'migrations', migrationsTable: 'webhooks' };
    const later = (await readdir(MIGRATIONS)).filter((file) => file >= '0010').length;
    await runner({ dbClient: client, direction: 'down', count: later, ...places, log: () => undefined });
    await client.end();
    const states = ['finished', 'running', 'queued', 'queued'];
    for (const [endpoint, dryRun] of [
      ['we_a', false],
      ['we_b', false],
      ['we_b', true],
    ] as const) {
      for (const [minute, state] of states.entries())
        await pool.query(
          `insert into webhooks.replay (replay_id, endpoint_id, workspace_id, since, until, types, statuses, dry_run, state, created_at, updated_at)
           values (gen_random_uuid(), $1, 'ws_1', $4, $4, '{}', '{}', $2, $3, $4::timestamptz + $5 * interval '1 minute', $4)`,
          [endpoint, dryRun, state, AT, minute],
        );
    }
    await migrate(MIGRATIONS);
    const { rows } = await pool.query(
      `select endpoint_id, dry_run, array_agg(state order by created_at) as states from webhooks.replay
       group by endpoint_id, dry_run order by endpoint_id, dry_run`,
    );
    const one = ['finished', 'running', 'stopped', 'stopped'];
    expect(rows).toEqual([
      { endpoint_id: 'we_a', dry_run: false, states: one },
      { endpoint_id: 'we_b', dry_run: false, states: one },
      { endpoint_id: 'we_b', dry_run: true, states },
    ]);
  });
});
