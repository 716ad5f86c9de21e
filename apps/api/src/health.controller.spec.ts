import { describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import type { Pool } from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { intercept } from '#event-sourcing/store/event-store.js';
import { HealthController } from './health.controller.js';

const answering = () => {
  const answer: { status?: number; body?: unknown } = {};
  const response = {
    req: {},
    status: (status: number) => ((answer.status = status), response),
    json: (body: unknown) => ((answer.body = body), response),
  };
  return { answer, response: response as unknown as Response };
};

const config: ConstructorParameters<typeof HealthController>[4] = {
  READINESS_ROLES: ['follow', 'jobs', 'webhooks'],
};

/** Answers of a PostgreSQL that works, with nothing to report. */
const sound = async (): Promise<object> => ({ rowCount: 1, rows: [] });

const controller = (
  doors: Parameters<typeof intercept>[1] = {},
  beyondHelp = false,
  isKept = true,
  query: (text: string) => Promise<object> = sound,
) => {
  const pool = { query } as unknown as Pool;
  const store = intercept(new InMemoryEventStore(), doors);
  const disk = { isKept: () => isKept };
  const time = { now: () => Promise.resolve(0) };
  return new HealthController(store, { beyondHelp }, pool, disk, config, time);
};

const live = (beyondHelp: boolean) => {
  const { answer, response } = answering();
  controller({}, beyondHelp).live(response);
  return answer;
};

describe('liveness', () => {
  it('fails when the connection to the event store is unusable, so that the process is restarted', () => {
    expect(live(true)).toEqual({ status: 503, body: { status: 'stuck' } });
    expect(live(false)).toEqual({ status: 200, body: { status: 'ok' } });
  });
});

describe('readiness', () => {
  it('is evaluated once for any number of callers', async () => {
    let asked = 0;
    const health = controller({ head: async () => BigInt((asked += 1)) });
    const answers = Array.from({ length: 500 }, () => answering());
    await Promise.all(answers.map(({ response }) => health.ready(response)));
    expect(answers.map(({ answer }) => answer.status)).toEqual(answers.map(() => 200));
    // Once for the store itself, once for the consumers' lag.
    expect(asked).toBe(2);
  });

  it('is lost while the disk does not keep its reserve, and says so', async () => {
    const { answer, response } = answering();
    await controller({}, false, false).ready(response);
    const body = { status: 'not ready', checks: { disk: false, postgres: true }, missingRoles: [] };
    expect(answer).toMatchObject({ status: 503, body });
    expect(answer.body).toHaveProperty('causes', { disk: 'disk_full' });
  });

  it('reports an absent PostgreSQL as one cause', async () => {
    const { answer, response } = answering();
    const refused = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    await controller({}, false, true, () => Promise.reject(refused)).ready(response);
    expect(answer).toMatchObject({
      status: 503,
      body: { checks: { eventStore: true, postgres: false, tables: false, worker: false, consumers: false } },
    });
    expect(answer.body).toHaveProperty('causes', { postgres: 'absent' });
  });

  const rolesMissing = (...roles: readonly string[]) => {
    const rows = roles.map((missing) => ({ missing }));
    return (text: string) =>
      text.includes('platform.heartbeat') ? Promise.resolve({ rowCount: rows.length, rows }) : sound();
  };

  it.each([
    ['is lost while nobody has a role that it needs', 'jobs', 503, { worker: 'role_missing' }],
    ['is kept without a role that it does not need, which it names', 'upkeep', 200, {}],
  ])('%s', async (_, role, status, causes) => {
    const { answer, response } = answering();
    await controller({}, false, true, rolesMissing(role)).ready(response);
    expect(answer).toMatchObject({ status, body: { missingRoles: [role] } });
    expect(answer.body).toHaveProperty('causes', causes);
  });

  it('reports no absent worker while the event store is away, because heartbeats need it', async () => {
    const { answer, response } = answering();
    const away = new StoreUnavailable('not reachable', false);
    const silent = rolesMissing('follow', 'jobs', 'webhooks', 'upkeep');
    await controller({ head: () => Promise.reject(away) }, false, true, silent).ready(response);
    expect(answer).toMatchObject({ body: { checks: { eventStore: false, worker: false } } });
    expect(answer.body).toHaveProperty('causes', { eventStore: 'absent' });

    const other = answering();
    await controller({}, false, true, silent).ready(other.response);
    expect(other.answer.body).toHaveProperty('causes', { worker: 'no_worker' });
  });

  it('is lost while a table is missing, which is one cause', async () => {
    const { answer, response } = answering();
    const missing = Object.assign(new Error('relation "event_sourcing.consumer" does not exist'), {
      code: '42P01',
    });
    await controller({}, false, true, (text) => {
      if (text.includes('to_regclass'))
        return Promise.resolve({ rows: [{ name: 'event_sourcing.consumer' }] });
      return text.includes('consumer') ? Promise.reject(missing) : sound();
    }).ready(response);
    expect(answer.body).toMatchObject({ checks: { postgres: true, tables: false, consumers: false } });
    expect(answer.body).toHaveProperty('causes', { tables: 'table_missing' });
  });
});
