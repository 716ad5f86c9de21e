import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { countingRowsRead } from '../../../../test/support/rows-read.js';
import { pageOfSessions } from './portal-sessions.js';
import { EndPortalSession, EnterPortal, FindPortalSession, OpenPortal } from '../contracts/index.js';
import {
  EndPortalSessionHandler,
  EnterPortalHandler,
  FindPortalSessionHandler,
  OpenPortalHandler,
  MAX_OPEN,
} from '../application/portal-sessions.js';

const START = Date.parse('2026-04-10T12:00:00.000Z');
const WORKSPACE = 'ws_0123456789abcdefghijKL';

let database: StartedPostgres;
let pool: pg.Pool;
let now: number;

beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.databaseUrl });
});
afterAll(async () => {
  await pool?.end();
  await database?.stop();
});
beforeEach(() => {
  now = START;
});

const clock = { now: () => now };
const handlers = () => {
  const [opening, entering] = [new OpenPortalHandler(pool, clock), new EnterPortalHandler(pool, clock)];
  const [finding, ending] = [
    new FindPortalSessionHandler(pool, clock),
    new EndPortalSessionHandler(pool, clock),
  ];
  const tryToOpen = (keyId: string | null = null, modes: readonly Mode[] = MODES) =>
    opening.execute(
      new OpenPortal(
        WORKSPACE,
        {
          scopes: ['readings:read'],
          modes,
          language: 'fr',
          timeZone: 'Europe/Paris',
          returnUrl: null,
          ttlSeconds: 600,
        },
        keyId,
        'operator:ada',
      ),
    );
  return {
    tryToOpen,
    open: async (...of: Parameters<typeof tryToOpen>) => (await tryToOpen(...of))!,
    enter: (token: string) => entering.execute(new EnterPortal(token)),
    find: (secret: string) => finding.execute(new FindPortalSession(secret)),
    end: (sessionId: string, workspaceId = WORKSPACE, sees: readonly Mode[] = MODES) =>
      ending.execute(new EndPortalSession(workspaceId, sees, sessionId)),
    list: (sees: readonly Mode[], from = pool) => pageOfSessions(from, WORKSPACE, sees, 100, null),
  };
};

describe('the link to a session', () => {
  it('works until its 60 seconds are over', async () => {
    const { open, enter } = handlers();
    const [one, two] = [await open(), await open()];
    now = START + 59_999;
    expect(await enter(one.token)).toMatchObject({ seconds: 600 });
    now = START + 60_000;
    expect(await enter(two.token)).toBeNull();
  });

  it('lets one in of many who use it at once', async () => {
    const { open, enter } = handlers();
    const { token } = await open();
    const entered = await Promise.all(Array.from({ length: 8 }, () => enter(token)));
    expect(entered.filter(Boolean)).toHaveLength(1);
  });

  it('is stored as a hash, which goes with its use', async () => {
    const { open, enter } = handlers();
    const { token, sessionId } = await open();
    const stored = () =>
      pool.query<{ text: string }>(
        'select session::text as text from workspaces.portal_session as session where session_id = $1',
        [sessionId],
      );
    expect((await stored()).rows[0]!.text).not.toContain(token);
    const { secret } = (await enter(token))!;
    const { text } = (await stored()).rows[0]!;
    expect([text.includes(token), text.includes(secret)]).toEqual([false, false]);
    const left = await pool.query(
      'select from workspaces.portal_session where session_id = $1 and link_sha256 is null',
      [sessionId],
    );
    expect(left.rowCount).toBe(1);
  });
});

describe('a session', () => {
  it('lasts as long as its terms say', async () => {
    const { open, enter, find } = handlers();
    const { secret } = (await enter((await open()).token))!;
    expect(await find(secret)).toMatchObject({ workspaceId: WORKSPACE, mode: 'live', language: 'fr' });
    now = START + 599_999;
    expect(await find(secret)).not.toBeNull();
    now = START + 600_000;
    expect(await find(secret)).toBeNull();
  });

  it('is ended by its workspace alone, also before it begins', async () => {
    const { open, enter, find, end } = handlers();
    const [begun, waiting] = [await open(), await open()];
    const { secret } = (await enter(begun.token))!;
    expect(await end(begun.sessionId, 'ws_other')).toBe('foreign');
    expect(await end('5a1d6f0e-2b47-4c0f-8f43-7e0b6c3d9a12')).toBe('unknown');
    expect(await find(secret)).not.toBeNull();
    expect([await end(begun.sessionId), await end(waiting.sessionId)]).toEqual(['ended', 'ended']);
    expect([await find(secret), await enter(waiting.token)]).toEqual([null, null]);
  });

  it('is shown to, and ended by, callers of its modes alone: one that sees live by those of live', async () => {
    await pool.query('truncate workspaces.portal_session');
    const { open, list, end } = handlers();
    const live = await open(null, ['live']);
    const test = await open(null, ['test']);
    const both = await open(null, MODES);
    const shown = async (mode: Mode) => (await list([mode])).map(({ sessionId }) => sessionId).toSorted();
    expect(await shown('live')).toEqual([live.sessionId, both.sessionId].toSorted());
    expect(await shown('test')).toEqual([test.sessionId]);
    expect(await end(both.sessionId, WORKSPACE, ['test'])).toBe('unknown');
    expect(await list(MODES)).toHaveLength(3);
    expect([
      await end(live.sessionId, WORKSPACE, ['test']),
      await end(test.sessionId, WORKSPACE, ['live']),
    ]).toEqual(['unknown', 'unknown']);
    expect((await list(MODES)).map(({ endedAt }) => endedAt)).toEqual([null, null, null]);
    expect(await end(live.sessionId, WORKSPACE, ['live'])).toBe('ended');
  });

  it.each<[Mode, Mode]>([
    ['live', 'test'],
    ['test', 'live'],
  ])('of %s is listed without reading those of %s, however many there are', async (mode, other) => {
    await pool.query('truncate workspaces.portal_session');
    const { open, list } = handlers();
    const { sessionId } = await open(null, [mode]);
    await open(null, [other]);
    await pool.query(
      `insert into workspaces.portal_session
       select (copy).* from (
         select jsonb_populate_record(session, jsonb_build_object('session_id', gen_random_uuid(), 'link_sha256', null)) as copy
         from workspaces.portal_session as session, generate_series(1, 3000) where session_id <> $1) copies`,
      [sessionId],
    );
    await pool.query('analyze workspaces.portal_session');
    const counting = countingRowsRead(pool);
    expect(await list([mode], counting.pool)).toMatchObject([{ sessionId }]);
    expect(counting.mostRowsRead()).toBe(1);
  });

  it('ends with the key that opened it', async () => {
    const { open, enter, find } = handlers();
    await pool.query(
      `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at) values ('Ab3dE6gH', $1, 'x', now())`,
      [WORKSPACE],
    );
    const [begun, waiting] = [await open('Ab3dE6gH'), await open('Ab3dE6gH')];
    const { secret } = (await enter(begun.token))!;
    expect(await find(secret)).toMatchObject({ keyId: 'Ab3dE6gH' });
    await pool.query(`update workspaces.api_key set revoked_at = now() where key_id = 'Ab3dE6gH'`);
    expect([await find(secret), await enter(waiting.token)]).toEqual([null, null]);
  });
});

describe('the open sessions of a workspace', () => {
  const KEY = 'Zz3dE6gH';
  beforeEach(async () => {
    await pool.query('truncate workspaces.portal_session');
    await pool.query(
      `insert into workspaces.api_key (key_id, workspace_id, hash, issued_at) values ($1, $2, 'x', now())
       on conflict (key_id) do update set revoked_at = null`,
      [KEY, WORKSPACE],
    );
    const { open } = handlers();
    await open(KEY);
    await pool.query(
      `insert into workspaces.portal_session (session_id, workspace_id, key_id, opened_by, scopes, modes, mode, language,
         time_zone, ttl_seconds, created_at, link_expires_at, expires_at)
       select gen_random_uuid(), workspace_id, key_id, opened_by, scopes, modes, mode, language, time_zone, ttl_seconds,
              created_at, link_expires_at, expires_at
       from workspaces.portal_session, generate_series(1, ${MAX_OPEN - 1})`,
    );
  });

  it('are no more than 1,000; an operator still opens one', async () => {
    const { tryToOpen } = handlers();
    expect(MAX_OPEN).toBe(1_000);
    expect(await tryToOpen(KEY)).toBeNull();
    expect(await tryToOpen(null)).not.toBeNull();
  });

  it('of test leave those of live their places', async () => {
    await pool.query(`update workspaces.portal_session set modes = '{test}', mode = 'test'`);
    const { tryToOpen } = handlers();
    expect(await tryToOpen(KEY, ['test'])).toBeNull();
    expect(await tryToOpen(KEY, ['live'])).not.toBeNull();
  });

  it.each<[string, (one: ReturnType<typeof handlers>) => Promise<unknown>]>([
    ['their time is over', async () => (now += 60_000)],
    ['one was ended', async ({ end, list }) => end((await list(MODES))[0]!.sessionId)],
    ['their key was revoked', () => pool.query('update workspaces.api_key set revoked_at = now()')],
  ])('count until %s', async (_, pass) => {
    const one = handlers();
    await pass(one);
    expect(await one.tryToOpen(KEY)).not.toBeNull();
  });
});

it('an old session ends with the next ones, a hundred at a time, so that a backlog keeps nobody from a link', async () => {
  const { open } = handlers();
  await open();
  await pool.query(
    `insert into workspaces.portal_session (session_id, workspace_id, opened_by, scopes, modes, mode, language,
       time_zone, ttl_seconds, created_at, link_expires_at, expires_at)
     select gen_random_uuid(), 'ws_old', opened_by, scopes, modes, mode, language, time_zone, ttl_seconds,
            '2020-01-01', '2020-01-01', '2020-01-01'
     from (select * from workspaces.portal_session limit 1) one, generate_series(1, 150)`,
  );
  const left = async () =>
    (await pool.query(`select from workspaces.portal_session where workspace_id = 'ws_old'`)).rowCount;
  await open();
  expect(await left()).toBe(50);
  await open();
  expect(await left()).toBe(0);
});
