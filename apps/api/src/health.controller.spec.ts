import { describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import type { Pool } from 'pg';
import { StoreUnavailable } from '@app/event-sourcing/store/errors.js';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { intercept } from '@app/event-sourcing/testing/intercepted-store.js';
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

const config = { READINESS_WORKER_MS: 10_000, READINESS_LAG_MS: 60_000 };

const controller = (doors: Parameters<typeof intercept>[1] = {}, beyondHelp = false, isKept = true) => {
  const pool = { query: async () => ({ rowCount: 1, rows: [] }) } as unknown as Pool;
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
    const checks = {
      eventStore: true,
      postgres: true,
      worker: true,
      consumers: true,
      disk: false,
      clock: true,
    };
    expect(answer).toEqual({
      status: 503,
      body: { status: 'not ready', checks, causes: { disk: 'disk_full' }, parkedStreams: null },
    });
  });

  it('says why a store is not ready', async () => {
    const { answer, response } = answering();
    const full = new Error('The disk of the event store is full: appends are refused.');
    const head = () => Promise.reject(new StoreUnavailable('not reachable', false, { cause: full }));
    await controller({ head }).ready(response);
    expect(answer).toMatchObject({
      status: 503,
      body: { checks: { eventStore: false, postgres: true }, causes: { eventStore: 'disk_full' } },
    });
  });
});
