import { describe, expect, it } from '@jest/globals';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { Session } from '../session.js';
import { CHECKS, examineAll } from './doctor.js';
import { ok } from './doctor/finding.js';

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
  run: () => Promise.resolve(ok(name, 'fine')),
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
