import { describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import type { Pool } from 'pg';
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

const controller = (doors: Parameters<typeof intercept>[1] = {}, beyondHelp = false) => {
  const pool = { query: async () => ({ rowCount: 1, rows: [] }) } as unknown as Pool;
  return new HealthController(intercept(new InMemoryEventStore(), doors), { beyondHelp }, pool, config, {
    now: () => Promise.resolve(0),
  });
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
});
