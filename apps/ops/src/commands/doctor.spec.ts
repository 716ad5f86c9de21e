import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { RetentionStatus } from '#platform/retention/retention-status.js';
import { LookAtTestReadings, type OpenBatches } from '#readings/contracts/index.js';
import { ListWebhookEndpoints } from '#webhooks/contracts/index.js';
import type { Config } from '../../../service/src/settings.js';
import type { Session } from '../session.js';
import {
  checkEventStore,
  checkPostgres,
  ok,
  verdictOn,
  type Replication,
  type Standby,
} from './doctor-stores.js';
import { checkBatches, checkDeliveries, checkRetention, CHECKS, examineAll, wayOutOfHalt } from './doctor.js';

type Checks = Parameters<typeof examineAll>[1];
const session = {} as Session;
const fails = (name: string, error: Error, needs: readonly ('postgres' | 'event store')[] = []) => ({
  name,
  needs,
  run: () => Promise.reject(error),
});
const passes = (name: string, needs: readonly ('postgres' | 'event store')[] = []) => ({
  name,
  needs,
  run: () => Promise.resolve(ok('fine')),
});
const coded = (code: string, message: string) =>
  Object.assign(new Error(message), { code, syscall: 'connect' });

const examined = async (stores: NonNullable<Checks>, checks: NonNullable<Checks>) =>
  (await examineAll(session, stores, checks)).map(({ check, level, cause, message }) => ({
    check,
    level,
    ...(cause && { cause }),
    message,
  }));

describe('ops doctor', () => {
  it('reports an absent database once, and names what it could not check', async () => {
    const findings = await examined(
      [fails('postgres', coded('ECONNREFUSED', 'connect ECONNREFUSED'), ['postgres']), passes('event store')],
      [passes('jobs', ['postgres']), passes('lag', ['postgres', 'event store']), passes('disk')],
    );
    expect(findings).toEqual([
      {
        check: 'postgres',
        level: 'failure',
        cause: 'absent',
        message: 'PostgreSQL does not answer (connect ECONNREFUSED)',
      },
      { check: 'event store', level: 'ok', message: 'fine' },
      { check: 'disk', level: 'ok', message: 'fine' },
      { check: 'not checked', level: 'warning', message: 'jobs, lag' },
    ]);
  });

  it('looks for no worker while the event store is away, because heartbeats need it', async () => {
    const findings = await examined(
      [passes('postgres'), fails('event store', new StoreUnavailable('gone', false), ['event store'])],
      CHECKS.filter(({ name }) => name === 'workers'),
    );
    expect(findings.map(({ check, level, message }) => [check, level, message])).toEqual([
      ['postgres', 'ok', 'fine'],
      ['event store', 'failure', expect.anything()],
      ['not checked', 'warning', 'workers'],
    ]);
  });

  it('reports one missing table once, with the checks that need it', async () => {
    const missing = coded('42P01', 'relation "graphile_worker.jobs" does not exist');
    const findings = await examined(
      [passes('postgres'), passes('event store')],
      [
        fails('jobs', missing, ['postgres']),
        passes('lag', ['postgres']),
        fails('holds', missing, ['postgres']),
      ],
    );
    expect(findings.filter(({ level }) => level === 'failure')).toEqual([
      {
        check: 'jobs, holds',
        level: 'failure',
        cause: 'table_missing',
        message: 'PostgreSQL lacks a table or column (relation "graphile_worker.jobs" does not exist)',
      },
    ]);
  });

  it('does not ask whether a store runs when it refuses or is damaged', async () => {
    const refused = await examineAll(
      session,
      [fails('postgres', coded('28P01', 'password'), ['postgres'])],
      [],
    );
    const damaged = await examineAll(
      session,
      [fails('postgres', coded('XX001', 'invalid page'), ['postgres'])],
      [],
    );
    const absent = await examineAll(
      session,
      [fails('event store', new StoreUnavailable('gone', false), ['event store'])],
      [],
    );
    expect([refused, damaged, absent].map(([finding]) => /is it running/i.test(finding!.advice))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('calls a bug a bug, and still runs the other checks', async () => {
    const findings = await examined([], [fails('jobs', new TypeError('x is undefined')), passes('disk')]);
    expect(findings).toEqual([
      { check: 'jobs', level: 'failure', message: 'cannot be checked: x is undefined' },
      { check: 'disk', level: 'ok', message: 'fine' },
    ]);
  });

  it('does not blame a store for what another server or a file did', async () => {
    const findings = await examined(
      [],
      [fails('bearer tokens', coded('ECONNREFUSED', 'connect ECONNREFUSED'))],
    );
    expect(findings).toEqual([
      { check: 'bearer tokens', level: 'failure', message: 'cannot be checked: connect ECONNREFUSED' },
    ]);
  });
});

describe('the servers', () => {
  const store = { head: () => Promise.resolve(5n) } as EventStore;
  const at = (EVENTSTORE_URL: string) => checkEventStore(store, { EVENTSTORE_URL } as Config);

  describe('the doctor’s check of the event store', () => {
    it.each(['esdb://127.0.0.1:1?tls=false', 'esdb://127.0.0.1:1?keepAliveInterval=10000&tls=false'])(
      'warns about a connection without TLS, and therefore without a login (%s)',
      async (url) => {
        expect(await at(url)).toMatchObject({
          level: 'warning',
          message: expect.stringContaining('without TLS and login'),
        });
      },
    );

    it.each(['esdb://a:b@localhost:1', 'esdb://a:b@localhost:1?tls=true'])('accepts %s', async (url) => {
      expect(await at(url)).toMatchObject({ level: 'ok', message: expect.not.stringContaining('a:b') });
    });
  });

  describe('the doctor’s check of PostgreSQL', () => {
    const facts = {
      version: '18.4',
      number: 180_004,
      checksums: 'on',
      size: '9 MB',
      encoding: 'UTF8',
      sortedBy: null,
      sortsBy: null,
    };
    const checked = (other: object) =>
      checkPostgres({ query: async () => ({ rows: [{ ...facts, ...other }] }) } as unknown as Pool);

    it('warns about a server that would not notice damaged bytes', async () => {
      expect(await checked({ checksums: 'off' })).toMatchObject({
        level: 'warning',
        message:
          'PostgreSQL 18.4, database of 9 MB, without data checksums: it would not notice damaged bytes on its disk',
      });
      expect(await checked({})).toMatchObject({ level: 'ok' });
    });

    it('finds a database that was made under another version of its collation, as after an upgrade of the system', async () => {
      expect(await checked({ sortedBy: '2.36', sortsBy: '2.41' })).toMatchObject({
        level: 'failure',
        message: expect.stringContaining('made under version 2.36 of its collation and sorts by 2.41 now'),
        advice: expect.stringContaining('reindex'),
      });
      for (const noted of ['2.41', null])
        expect(await checked({ sortedBy: noted, sortsBy: '2.41' })).toMatchObject({ level: 'ok' });
    });

    it('finds a database that cannot store every text', async () => {
      expect(await checked({ encoding: 'LATIN1' })).toMatchObject({
        level: 'failure',
        message: expect.stringContaining('in LATIN1'),
      });
    });
  });
});

describe('a standby', () => {
  const standby = (syncState: string | null): Standby =>
    syncState === null
      ? { name: null, state: null, syncState, behind: null }
      : { name: 'second', state: 'streaming', syncState, behind: '56 bytes' };
  const replication = (...states: readonly (string | null)[]): Replication => ({
    standbys: states.map(standby),
    synchronousNames: '',
    synchronousCommit: 'on',
  });

  it.each<[string, Replication, 'ok' | 'warning' | 'failure', RegExp]>([
    ['no standby', replication(), 'ok', /^none is attached/],
    [
      'a synchronous standby that is away',
      { ...replication(), synchronousNames: '*' },
      'failure',
      /^commits wait/,
    ],
    [
      'a synchronous standby',
      replication('sync'),
      'ok',
      /^second is synchronous .* loses no acknowledged commit$/,
    ],
    [
      'one of a quorum',
      replication('quorum', 'async'),
      'ok',
      /^second is synchronous .*, second is asynchronous/,
    ],
    [
      'an asynchronous standby',
      replication('async'),
      'warning',
      /56 bytes behind: a promotion loses the last/,
    ],
    [
      'a synchronous standby that no commit waits for',
      { ...replication('sync'), synchronousCommit: 'local' },
      'warning',
      /synchronous_commit is local/,
    ],
    ['a standby that the role may not see', replication(null), 'warning', /hidden from this role/],
  ])('doctor describes %s', (_, given, level, message) => {
    expect(verdictOn(given)).toMatchObject({ level, message: expect.stringMatching(message) });
  });
});

describe('batches', () => {
  const check = (found: OpenBatches) =>
    checkBatches({
      queries: { execute: async () => found as never },
      config: { READING_TIMEOUT_MS: 86_400_000 },
    });

  it('Doctor names a reading that keeps a batch open', async () => {
    const oldest = { batchId: 'b1', workspaceId: 'ws_1', waitsFor: ['r1', 'r2'] };
    expect(await check({ count: 3, oldest })).toMatchObject({
      level: 'warning',
      message: '3 have not ended, such as b1 of ws_1, because reading r1 has not',
    });
    expect(await check({ count: 1, oldest: { ...oldest, waitsFor: [] } })).toMatchObject({
      advice: expect.stringContaining('No worker'),
    });
    expect(await check({ count: 0, oldest: null })).toMatchObject({ level: 'ok' });
  });
});

describe('retention', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z');

  const check = (
    lags: readonly number[],
    waitsSince: string | null = null,
    nameOf = (index: number) => `kind ${index}`,
  ) => {
    const kinds = lags.map((lagDays, index): RetentionStatus => ({
      kind: nameOf(index),
      what: 'things',
      setting: 'THINGS_KEPT_DAYS',
      days: 90,
      oldest: null,
      due: { rows: 7, bytes: 0, partitions: null },
      lagDays,
      lastRun: null,
      progress: null,
      waitsSince,
      nextRun: null,
    }));
    const none = { rows: [{ oldest: null, rows: 0, bytes: 0 }] };
    return checkRetention(
      {
        queries: {
          execute: async (query: object) => (query instanceof LookAtTestReadings ? kinds[0] : kinds) as never,
        },
        pool: {
          query: async (text: string) => (text.includes('platform.retention_') ? { rows: [] } : none),
        } as never,
        config: { AUDIT_RETENTION_DAYS: 400 } as never,
      },
      NOW,
    );
  };

  it('Doctor warns when data is two days behind its term, and fails when it is a week behind', async () => {
    expect(await check([0, 1])).toEqual([expect.objectContaining({ level: 'ok' })]);
    expect(await check([0, 2])).toMatchObject([
      {
        level: 'warning',
        message: 'kind 1 (things) are 2 days behind THINGS_KEPT_DAYS (90): 7 rows are due',
        advice: expect.stringContaining('ops retention run'),
      },
    ]);
    expect(await check([0, 7, 2])).toMatchObject([{ level: 'failure' }, { level: 'warning' }]);
  });

  it('Doctor does not send an operator to a command that erases no test readings', async () => {
    const [finding] = await check([3], null, () => 'test-readings');
    expect(finding).toMatchObject({ level: 'warning', message: expect.stringContaining('test-readings') });
    expect(finding!.advice).toContain('its log says why');
    expect(finding!.advice).not.toContain('ops retention run');
  });

  it('Doctor says that deletion waits for an operator after a long pause, even when nothing is late yet', async () => {
    expect(await check([0, 0], '2026-05-01T00:00:00.000Z')).toMatchObject([
      {
        level: 'warning',
        message: 'workers delete nothing after its term: the last round was at 2026-05-01T00:00:00.000Z',
        advice: expect.stringContaining('ops retention run'),
      },
    ]);
  });
});

describe('work', () => {
  it('Doctor advises to set an event aside only when a consumer parks too much, not when a store is at fault', () => {
    expect(wayOutOfHalt('billing.a', 'credits-1@3 Added: StoreDamaged: record 7 is damaged')).not.toContain(
      'set-aside',
    );
    expect(
      wayOutOfHalt('billing.a', 'credits-1@3 Added: RangeError: no; 25 events keep streams parked already'),
    ).toContain('ops parked set-aside credits-1@3 --reason');
  });

  it.each([
    ['none is due', [], 'ok', 'none is due'],
    ['none has waited for a minute', [['ok', 59]], 'ok', 'the oldest has been due for 59 s'],
    [
      'one has, of whichever endpoint',
      [
        ['ok', 0],
        ['failing', 60],
      ],
      'warning',
      'the oldest has been due for 60 s',
    ],
    [
      'one has waited for five minutes',
      [
        ['ok', 300],
        ['ok', 7],
      ],
      'failure',
      'the oldest has been due for 300 s',
    ],
    [
      'only endpoints wait that are sent nothing',
      [
        ['unverified', 900],
        ['disabled', 900],
      ],
      'ok',
      'none is due',
    ],
  ] as const)(
    'Doctor judges deliveries by the one that waits longest: %s',
    async (_, queues, level, message) => {
      const asked: unknown[] = [];
      const queries = {
        execute: async (query: object) => {
          asked.push(query);
          return queues.map(([state, queueAgeSeconds]) => ({
            endpoint: { health: { state } },
            queueAgeSeconds,
          }));
        },
      };
      expect(await checkDeliveries({ queries: queries as never })).toMatchObject({ level, message });
      expect(asked).toEqual([new ListWebhookEndpoints(null, null)]);
    },
  );
});
