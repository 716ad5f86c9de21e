import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { RetentionStatus } from '#platform/retention/retention-status.js';
import { LookAtTestReadings, type OpenBatches } from '#readings/contracts/index.js';
import { ListWebhookEndpoints } from '#webhooks/contracts/index.js';
import type { Config } from '../../../service/src/settings.js';
import type { Session } from '../session.js';
import {
  BOTH,
  check,
  checkEventStore,
  checkPostgres,
  ok,
  POSTGRES,
  type Check,
  checkBatches,
  checkDeliveries,
  checkRetention,
  examineAll,
  wayOutOfHalt,
} from './doctor.js';

const fails = (name: string, error: Error, needs: Check['needs'] = []) =>
  check(name, needs, () => Promise.reject(error));
const passes = (name: string, needs: Check['needs'] = []) =>
  check(name, needs, () => Promise.resolve(ok('fine')));
const coded = (code: string, message: string) =>
  Object.assign(new Error(message), { code, syscall: 'connect' });
const refused = coded('ECONNREFUSED', 'connect ECONNREFUSED');

const examined = (stores: readonly Check[], checks: readonly Check[]) =>
  examineAll({} as Session, stores, checks);
const PASSING = [passes('postgres'), passes('event store')];

describe('ops doctor', () => {
  it('reports an absent database once, and names what it could not check', async () => {
    const findings = await examined(
      [fails('postgres', refused, POSTGRES), passes('event store')],
      [passes('jobs', POSTGRES), passes('lag', BOTH), passes('disk')],
    );
    const message = 'PostgreSQL does not answer (connect ECONNREFUSED)';
    expect(findings).toMatchObject([
      { check: 'postgres', level: 'failure', cause: 'absent', message },
      { check: 'event store', level: 'ok', message: 'fine' },
      { check: 'disk', level: 'ok', message: 'fine' },
      { check: 'not checked', level: 'warning', message: 'jobs, lag' },
    ]);
  });

  it('reports one missing table once, with the checks that need it', async () => {
    const missing = coded('42P01', 'relation "graphile_worker.jobs" does not exist');
    const checks = [
      fails('jobs', missing, POSTGRES),
      passes('lag', POSTGRES),
      fails('holds', missing, POSTGRES),
    ];
    const findings = await examined(PASSING, checks);
    expect(findings.filter(({ level }) => level === 'failure')).toMatchObject([
      {
        check: 'jobs, holds',
        cause: 'table_missing',
        message: 'PostgreSQL lacks a table or column (relation "graphile_worker.jobs" does not exist)',
      },
    ]);
  });

  it.each([
    ['a bug', new TypeError('x is undefined')],
    ['what another server or a file did', refused],
  ])('blames no store for %s, and still runs the other checks', async (_, error) => {
    expect(await examined([], [fails('disk space', error), passes('disk')])).toMatchObject([
      { check: 'disk space', level: 'failure', message: `cannot be checked: ${error.message}` },
      { check: 'disk', level: 'ok', message: 'fine' },
    ]);
  });
});

describe('the doctor’s check of', () => {
  it.each([
    ['esdb://127.0.0.1:1?tls=false', 'warning', /without TLS and login/],
    ['esdb://a:b@localhost:1?tls=true', 'ok', /^(?!.*a:b)/],
  ])('the event store: %s is %s', async (url, level, message) => {
    const store = { head: () => Promise.resolve(5n) } as EventStore;
    const found = await checkEventStore(store, { EVENTSTORE_URL: url } as Config);
    expect(found).toMatchObject({ level, message: expect.stringMatching(message) });
  });

  it.each([
    ['data checksums', {}, 'ok', /^PostgreSQL 18.4, database of 9 MB$/],
    ['none', { checksums: 'off' }, 'warning', /without data checksums/],
    ['an older collation', { sortedBy: '2.36', sortsBy: '2.41' }, 'failure', /2.36 of .* sorts by 2.41 now/],
    ['the same collation', { sortedBy: '2.41', sortsBy: '2.41' }, 'ok', /9 MB$/],
    ['one that never changes', { sortsBy: '2.41' }, 'ok', /9 MB$/],
    ['another encoding', { encoding: 'LATIN1' }, 'failure', /in LATIN1/],
  ])('PostgreSQL, with %s', async (_, other, level, message) => {
    const limits = { version: '18.4', number: 180_004, checksums: 'on', size: '9 MB' };
    const facts = { ...limits, encoding: 'UTF8', sortedBy: null, sortsBy: null, ...other };
    const pool = { query: async () => ({ rows: [facts] }) } as unknown as Pool;
    expect(await checkPostgres(pool)).toMatchObject({ level, message: expect.stringMatching(message) });
  });
});

it('Doctor names a reading that keeps a batch open', async () => {
  const checked = (found: OpenBatches) => checkBatches({ execute: async () => found as never }, 86_400_000);
  const oldest = { batchId: 'b1', workspaceId: 'ws_1', waitsFor: ['r1', 'r2'] };
  expect(await checked({ count: 3, oldest })).toMatchObject({
    level: 'warning',
    message: '3 have not ended, such as b1 of ws_1, because reading r1 has not',
  });
  expect(await checked({ count: 1, oldest: { ...oldest, waitsFor: [] } })).toMatchObject({
    advice: expect.stringContaining('No worker'),
  });
  expect(await checked({ count: 0, oldest: null })).toMatchObject({ level: 'ok' });
});

describe('retention', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z');
  const late = (kind: string, lagDays: number, waitsSince: string | null = null): RetentionStatus => ({
    ...{ kind, lagDays, waitsSince, what: 'things', setting: 'THINGS_KEPT_DAYS', days: 90 },
    ...{ oldest: null, due: { rows: 7, bytes: 0, partitions: null } },
    ...{ lastRun: null, nextRun: null },
  });
  const checked = (...kinds: readonly RetentionStatus[]) => {
    const none = { rows: [{ oldest: null, rows: 0, bytes: 0 }] };
    const execute = async (query: object) => (query instanceof LookAtTestReadings ? kinds[0] : kinds);
    const query = async (text: string) => (text.includes('platform.retention_') ? { rows: [] } : none);
    const config = { AUDIT_RETENTION_DAYS: 400 };
    return checkRetention({ queries: { execute }, pool: { query }, config } as never, NOW);
  };

  it('Doctor warns when data is two days behind its term, and fails when it is a week behind', async () => {
    expect(await checked(late('a', 0), late('b', 1))).toMatchObject([{ level: 'ok' }]);
    expect(await checked(late('a', 0), late('b', 2))).toMatchObject([
      {
        level: 'warning',
        message: 'b (things) are 2 days behind THINGS_KEPT_DAYS (90): 7 rows are due',
        advice: expect.stringContaining('ops retention run'),
      },
    ]);
    expect(await checked(late('a', 0), late('b', 7), late('c', 2))).toMatchObject([
      { level: 'failure' },
      { level: 'warning' },
    ]);
  });

  it('Doctor says that deletion waits for an operator after a long pause, though nothing is late yet', async () => {
    expect(await checked(late('a', 0, '2026-05-01T00:00:00.000Z'))).toMatchObject([
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
    const fault = 'credits-1@3 Added: StoreDamaged: record 7 is damaged';
    expect(wayOutOfHalt('billing.a', fault)).not.toContain('set-aside');
    const bad = 'credits-1@3 Added: RangeError: no; 25 events keep streams parked already';
    expect(wayOutOfHalt('billing.a', bad)).toContain('ops parked set-aside credits-1@3 --reason');
  });

  it.each([
    ['none is due', '', 'ok', 'none is due'],
    ['none has waited for a minute', 'ok 59', 'ok', 'the oldest has been due for 59 s'],
    ['one has, of any endpoint', 'ok 0, failing 60', 'warning', 'the oldest has been due for 60 s'],
    ['one has for five minutes', 'ok 300, ok 7', 'failure', 'the oldest has been due for 300 s'],
    ['only endpoints that get nothing', 'unverified 900, disabled 900', 'ok', 'none is due'],
  ])('Doctor judges deliveries by the one that waits longest: %s', async (_, queues, level, message) => {
    const endpoints = [...queues.matchAll(/(\w+) (\d+)/g)].map(([, state, age]) => ({
      endpoint: { health: { state } },
      queueAgeSeconds: Number(age),
    }));
    const asked: unknown[] = [];
    const execute = async (query: object) => {
      asked.push(query);
      return endpoints;
    };
    expect(await checkDeliveries({ queries: { execute } as never })).toMatchObject({ level, message });
    expect(asked).toEqual([new ListWebhookEndpoints(null, null)]);
  });
});
