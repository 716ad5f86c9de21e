import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { heartbeat } from '#platform/time/heartbeat.js';
import { AGREEING, DIFFERING } from '#platform/time/testing/clocks-under-test.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import { until } from '../../../../test/support/integrator.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import {
  checkConnections,
  checkDocuments,
  checkPublications,
  checkWorkers,
  checkEventStore,
} from './doctor.js';
import { FIRST_READING, lostDocuments } from './publications.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { Config } from '../../../service/src/settings.js';

let postgres: StartedPostgres;
let pool: pg.Pool;
let application: pg.Pool;
beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'doctor', onError: () => undefined });
  application = new pg.Pool({ connectionString: postgres.applicationUrl, max: 1 });
  application.on('error', () => undefined);
});
afterAll(async () => {
  await Promise.all([pool.end(), application.end()]);
  await postgres.stop();
});

describe('connections', () => {
  const config = { DATABASE_POOL_SIZE: 12 };
  beforeEach(() => pool.query('truncate platform.heartbeat'));

  const processes = (count: number, age = '0 seconds') =>
    pool.query(
      `insert into platform.heartbeat (instance, role, beat_at)
     select 'process ' || n, 'worker', now() - $2::interval from generate_series(1, $1::integer) n`,
      [count, age],
    );

  it.each([
    [
      'accepts as many as PostgreSQL takes connections of',
      7,
      '0 seconds',
      'ok',
      '; 7 processes may open 91 of 97',
    ],
    ['warns of more', 8, '0 seconds', 'warning', '; 8 processes may open 104 of 97'],
    ['does not count those that have ended', 8, '1 minute', 'ok', '; 0 processes may open 0 of 97'],
  ])('Doctor compares processes with connections: it %s', async (_, count, age, level, message) => {
    await processes(count, age);
    expect(await checkConnections(application, config)).toMatchObject({
      level,
      message: expect.stringContaining(` of 97 are open${message}`),
    });
  });

  it('Doctor warns when others have taken most of the connections', async () => {
    const others = { query: async () => ({ rows: [{ server: 97, own: 97, open: 90, processes: 1 }] }) };
    expect(await checkConnections(others as never, config)).toMatchObject({ level: 'warning' });
  });

  it('Doctor knows the limit of the database, and that of the role', async () => {
    const name = (url: string, part: 'pathname' | 'username') =>
      pg.escapeIdentifier(new URL(url)[part].replace(/^\//, ''));
    const database = name(postgres.databaseUrl, 'pathname');
    await pool.query(`alter database ${database} connection limit 40`);
    await processes(3);
    expect((await checkConnections(application, config)).message).toContain('39 of 40');
    const role = name(postgres.applicationUrl, 'username');
    await pool.query(`alter role ${role} connection limit 30`);
    expect(await checkConnections(application, config)).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('39 of 30'),
    });
    await pool.query(`alter role ${role} connection limit -1`);
  });
});

describe('workers', () => {
  it('Doctor finds by the heartbeats that nobody works, and then which role nobody has', async () => {
    await pool.query('truncate platform.heartbeat');
    const found = () => checkWorkers(pool);
    expect(await found()).toMatchObject({ level: 'failure', message: 'no heartbeat for 10 s' });
    const ending = new AbortController();
    const store = { head: async () => null } as never;
    const beat = (instance: string, roles: Parameters<typeof heartbeat>[2]) =>
      heartbeat('worker', { pool, store, time: { instance, aheadOfPostgres: 0 } as never }, roles).run(
        ending.signal,
      );
    const beats = [beat('one', ['follow', 'jobs']), beat('two', ['webhooks'])];
    await until(
      async () => (await found()).message === '2 alive, none with the role upkeep',
      () => 'two beat',
    );
    beats.push(beat('three', null));
    await until(
      async () => (await found()).level === 'ok',
      () => 'one with every role beats',
    );
    ending.abort();
    await Promise.all(beats);
  });
});

describe('publications', () => {
  const due = async (version: number, age: string | null): Promise<string> => {
    const readingId = randomUUID();
    const table = version === 1 ? 'publication' : 'republication';
    await pool.query(
      `insert into publishing.${table} (reading_id, version, workspace_id, due_at, correlation_id${version === 1 ? ', artifact_id' : ''})
     values ($1, $2, 'ws_1', now() - $3::interval, 'req_1'${version === 1 ? `, ''` : ''})`,
      [readingId, version, age],
    );
    return readingId;
  };

  it('Doctor finds completed readings whose documents are not made, and names the one that waits longest', async () => {
    await due(1, null);
    await due(1, '9 minutes');
    expect(await checkPublications(pool, AGREEING)).toMatchObject([{ level: 'ok' }]);
    await due(1, '11 minutes');
    const longest = await due(2, '1 hour');
    expect(await checkPublications(pool, AGREEING)).toMatchObject([
      {
        level: 'failure',
        message: `2 documents are more than 10 minutes late, such as that of reading ${longest}`,
        advice: expect.stringContaining('cannot be made'),
      },
    ]);
    expect(await checkPublications(pool, DIFFERING)).toMatchObject([{ level: 'ok' }]);
  });

  it('Doctor finds a document that was given up, unless its reading was erased', async () => {
    await pool.query('truncate publishing.publication, publishing.republication');
    const [, givenUp] = [await due(1, null), await due(1, null)];
    await pool.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key) values ($1, 'ws_1', '')`,
      [givenUp],
    );
    expect(await checkPublications(pool, AGREEING)).toMatchObject([
      { level: 'ok' },
      {
        level: 'warning',
        message: `1 documents were given up, such as that of reading ${givenUp}: each ended three workers`,
        advice: expect.stringContaining('ops readings unreadable'),
      },
    ]);
  });
});

describe('documents', () => {
  /** Versions 1 and 2 of a document, all formats stored. */
  const published = async (readingId: string): Promise<void> => {
    await pool.query(
      `with key as (insert into platform.subject_key (subject_id, workspace_id, wrapped_key) values ($1, 'ws_1', 'x')),
          made as (insert into publishing.publication
                     (reading_id, version, workspace_id, artifact_id, published_at, correlation_id)
                   select $1, version, 'ws_1', 'art', now(), 'c' from generate_series(1, 2) as version)
     insert into publishing.artifact (artifact_id, format, reading_id, version, media_type, content_version, digest, bytes, sealed)
     select 'art', format, $1, version, 'text/plain', '1', '', 1, 'x'
     from generate_series(1, 2) as version, unnest(array['document_v1', 'markdown', 'pdf']) as format`,
      [readingId],
    );
  };

  it('finds versions that lack formats, page by page, and none of erased readings', async () => {
    await pool.query('truncate publishing.publication, platform.subject_key');
    const ids = Array.from({ length: 7 }, () => randomUUID()).toSorted();
    for (const id of ids) await published(id);
    expect(await checkDocuments(pool)).toMatchObject({ level: 'ok', message: 'all formats are stored' });
    const [first, second, fourth, last] = [ids[0], ids[1], ids[3], ids[6]];
    const one = "delete from publishing.artifact where reading_id = $1 and version = 1 and format = 'pdf'";
    await pool.query(one, [second]);
    await pool.query('delete from publishing.artifact where reading_id = any($1::uuid[])', [[fourth, last]]);
    await pool.query('delete from platform.subject_key where subject_id = $1', [fourth]);
    const found: object[] = [];
    for (let after: string | null = FIRST_READING; after !== null;) {
      const page = await lostDocuments(pool, after, 3);
      found.push(...page.lost);
      after = page.last;
    }
    expect(found).toEqual([
      { readingId: second, version: 1 },
      { readingId: last, version: 1 },
      { readingId: last, version: 2 },
    ]);
    expect(await checkDocuments(pool)).toMatchObject({
      level: 'failure',
      message: expect.stringMatching(/^2 readings lack a published document/),
    });
    await pool.query('delete from publishing.publication where reading_id <> $1', [first]);
    expect(await checkDocuments(pool, 1)).toMatchObject({
      level: 'ok',
      message: 'those looked at have all formats',
    });
  });
});

describe('the event store', () => {
  const store = { head: () => Promise.resolve(5n) } as EventStore;
  const check = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);

  describe('an address with several nodes', () => {
    let dataDir: string;
    let node: EmbeddedEventStore;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), 'doctor-cluster-'));
      node = await startEmbeddedEventStore({ dataDir });
    });
    afterAll(async () => {
      await node.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    it('is shown with its leader and with the nodes that do not answer', async () => {
      const found = await check(`esdb://127.0.0.1:${node.port},127.0.0.1:1?tls=false`);
      expect(found.level).toBe('warning');
      expect(found.message).toContain(
        `127.0.0.1:${node.port} leads; no followers; no answer from 127.0.0.1:1, head at 5`,
      );
    });

    it('without a leader is a failure that says there is no quorum', async () => {
      expect(await check('esdb://127.0.0.1:1,127.0.0.1:2?tls=false')).toMatchObject({
        level: 'failure',
        cause: 'absent',
        message: expect.stringContaining('there is no quorum'),
      });
    });
  });

  it('The doctor says to use names where the address has an IP address under TLS', async () => {
    expect(await check('esdb://user:word@127.0.0.1:1?tls=true')).toMatchObject({
      level: 'warning',
      advice: expect.stringContaining('use a host name'),
    });
  });
});
