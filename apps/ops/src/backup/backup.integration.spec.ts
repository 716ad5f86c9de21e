import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import type { Manifest } from './manifest.js';
import { copyTables, loadTables } from './tables.js';

let postgres: StartedPostgres;
beforeAll(async () => {
  postgres = await freshDatabase();
});
afterAll(() => postgres.stop());

describe('loading', () => {
  const ERASED = 'aaaaaaaa-0000-4000-8000-000000000000';
  const KEPT = 'bbbbbbbb-0000-4000-8000-000000000000';
  const folder = mkdtempSync(join(tmpdir(), 'load-tables-'));
  let client: pg.Client;

  beforeAll(async () => {
    client = new pg.Client({ connectionString: postgres.databaseUrl });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    rmSync(folder, { recursive: true });
  });

  const keys = async (): Promise<unknown[]> => {
    const { rows } = await client.query<{ id: string }>('select subject_id as id from platform.subject_key');
    return rows.map(({ id }) => id);
  };

  it('Tables are loaded without the keys of erased readings, or not at all', async () => {
    await client.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key)
     select id, 'ws_1', 'sealed' from unnest($1::uuid[]) as id`,
      [[ERASED, KEPT]],
    );
    const manifest = { postgres: await copyTables(postgres.ownerUrl, folder, () => undefined) } as Manifest;
    await client.query('delete from platform.subject_key');
    const load = (readingId: string) =>
      loadTables(postgres.ownerUrl, folder, manifest, () => undefined, [{ readingId, workspaceId: 'ws_1' }]);

    await expect(load('no id')).rejects.toThrow('invalid input syntax for type uuid');
    expect(await keys()).toEqual([]);
    expect(await load(ERASED)).toBe(1);
    expect(await keys()).toEqual([KEPT]);
  });

  it('Sessions of the portal end with a restore: some were ended after the backup', async () => {
    await client.query(
      `insert into workspaces.portal_session (session_id, workspace_id, opened_by, scopes, modes, mode, language,
         time_zone, ttl_seconds, created_at, link_expires_at, secret_sha256, expires_at)
       values (gen_random_uuid(), 'ws_1', 'operator:ada', '{persons:read}', '{live}', 'live', 'fr', 'UTC', 28800, now(),
               now(), sha256('secret'), now() + interval '8 hours')`,
    );
    const backup = join(folder, 'sessions');
    mkdirSync(backup);
    const manifest = { postgres: await copyTables(postgres.ownerUrl, backup, () => undefined) } as Manifest;
    await loadTables(postgres.ownerUrl, backup, manifest, () => undefined, []);
    const { rows } = await client.query(
      'select secret_sha256 as secret, ended_at is not null as ended from workspaces.portal_session',
    );
    expect(rows).toEqual([{ secret: null, ended: true }]);
  });

  const partitions = async (): Promise<readonly string[]> => {
    const { rows } = await client.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'webhooks.settled_delivery'::regclass`,
    );
    return rows.map(({ name }) => name);
  };

  it('Settled deliveries of earlier weeks are in the partitions of their weeks', async () => {
    const before = await partitions();
    await client.query(
      `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                            created_at, settled_at)
     select gen_random_uuid(), 'we_é', 'evt_1', 'succeeded', 0, false, false, at, at
     from unnest(array[now(), now() - interval '9 weeks', now() - interval '2 weeks']) as at`,
    );
    const backup = join(folder, 'weeks');
    mkdirSync(backup);
    const manifest = { postgres: await copyTables(postgres.ownerUrl, backup, () => undefined) } as Manifest;
    await loadTables(postgres.ownerUrl, backup, manifest, () => undefined, null);
    const { rows: loaded } = await client.query<{ partition: string; week: string }>(
      `select tableoid::regclass::text as partition, to_char(settled_at at time zone 'UTC', 'IYYY"w"IW') as week
     from webhooks.settled_delivery`,
    );
    expect(loaded).toHaveLength(3);
    for (const { partition, week } of loaded) expect(partition).toBe(`webhooks.settled_delivery_${week}`);
    // Those that there were, and one for each of the ten weeks of the backup.
    const { rows: weeks } = await client.query<{ name: string }>(
      `select to_char(now() at time zone 'UTC' - nr * interval '1 week', '"webhooks.settled_delivery_"IYYY"w"IW') as name
     from generate_series(0, 9) nr`,
    );
    const expected = new Set([...before, ...weeks.map(({ name }) => name)]);
    expect((await partitions()).toSorted()).toEqual([...expected].toSorted());
  });
});
