import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Integrator } from '../../support/integrator.js';
import { startPostgres } from '../../support/start-postgres.js';
import { startStack } from '../../support/start-stack.js';
import { startChild } from '../child.js';
import { ratio, type Benchmark, type Settings } from '../report.js';
import { measure, withRefusals, type LoadResult } from '../service/load.js';
import { somebody } from '../service/somebody.js';
import { API_KEY, createTables } from './tables.js';

/** Readings whose completion is measured. */
const READINGS = 400;
/** Warm-up readings before these. */
const WARM_UP = 60;

/** A running system that produces readings. */
interface System {
  readonly url: string;
  readonly apiKey: string;
  /** Pauses the worker, so that only the API is measured. */
  rest(): void;
  work(): void;
  published(): Promise<number>;
  stop(): Promise<void>;
}

const startService = async (): Promise<System> => {
  const stack = await startStack({ env: { LOG_LEVEL: 'warn' } });
  const customer = await Integrator.open(stack, 100_000_000);
  const pool = new pg.Pool({ connectionString: stack.databaseUrl });
  return {
    url: `${stack.baseUrl}/api/v1/readings`,
    apiKey: customer.apiKey,
    rest: () => process.kill(stack.pids().worker, 'SIGSTOP'),
    work: () => process.kill(stack.pids().worker, 'SIGCONT'),
    published: async () => {
      const { rows } = await pool.query<{ count: number }>(
        'select count(*)::int from readings.reading where published_at is not null',
      );
      return rows[0]!.count;
    },
    stop: async () => {
      await pool.end();
      await stack.killAll();
      await stack.stop();
    },
  };
};

const startPeer = async (): Promise<System> => {
  const postgres = await startPostgres();
  const pool = new pg.Pool({ connectionString: postgres.databaseUrl });
  await createTables(pool);
  const env = {
    ...process.env,
    DATABASE_URL: postgres.databaseUrl,
    CRUD_KEY: randomBytes(32).toString('hex'),
  };
  const [api, worker] = [await startChild('crud/api', [], env), await startChild('crud/worker', [], env)];
  return {
    url: `http://127.0.0.1:${(JSON.parse(api.line) as { port: number }).port}/readings`,
    apiKey: API_KEY,
    rest: () => void worker.process.kill('SIGSTOP'),
    work: () => void worker.process.kill('SIGCONT'),
    published: async () => {
      const { rows } = await pool.query<{ count: number }>(
        'select count(*)::int from crud.reading where published_at is not null',
      );
      return rows[0]!.count;
    },
    stop: async () => {
      await Promise.all([api.stop('SIGKILL'), worker.stop('SIGKILL')]);
      await pool.end();
      await postgres.stop();
    },
  };
};

/** Requests readings for the people numbered `from` to `to`. */
const request = async ({ url, apiKey }: System, from: number, to: number): Promise<void> => {
  let n = from;
  const caller = async (): Promise<void> => {
    while (n < to) {
      const { status } = await fetch(url, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(somebody((n += 1))),
      });
      if (status !== 202) throw new Error(`${url} answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
};

/** Waits until `count` readings are published. @returns the time, milliseconds */
const untilPublished = async (system: System, count: number): Promise<number> => {
  while ((await system.published()) < count) await delay(50);
  return performance.now();
};

interface Rates {
  readonly accepted: LoadResult;
  readonly completed: number;
}

const ratesOf = async (system: System, { seconds, count = READINGS }: Settings): Promise<Rates> => {
  try {
    await request(system, 0, WARM_UP);
    await untilPublished(system, WARM_UP);
    system.rest();
    await request(system, WARM_UP, WARM_UP + count);
    const startedAt = performance.now();
    system.work();
    const completed = (count * 1_000) / ((await untilPublished(system, WARM_UP + count)) - startedAt);
    system.rest();
    const load = await measure({
      url: system.url,
      method: 'POST',
      body: JSON.stringify(somebody(0)),
      headers: { 'x-api-key': system.apiKey },
      expect: 202,
      seconds,
    });
    system.work();
    return { accepted: load, completed };
  } finally {
    await system.stop();
  }
};

/** Measures the cost of events: compares the service with a build that keeps its state only in tables. */
export const crudBenchmark: Benchmark = {
  name: 'crud',
  title: 'The service and a plain build of it',
  explanation: `The floor is test/bench/crud: the same framework, body rules, calculation and typesetting over tables changed in place. It
has one transaction to accept a reading and one job to make it. It has no events, replay, idempotency or webhooks, and one key
for all sealed data.
Accepted: 64 connections, one workspace, idle workers. Completed: readings of ${READINGS} people that wait, one worker, until the last is published.`,
  async run(settings) {
    settings.say('  The plain build…');
    const peer = await ratesOf(await startPeer(), settings);
    settings.say('  The service…');
    const service = await ratesOf(await startService(), settings);
    const accepted = ratio('readings accepted', service.accepted.perSecond, peer.accepted.perSecond, 0.7);
    settings.add(withRefusals(accepted, service.accepted, peer.accepted));
    settings.add(ratio('readings completed', service.completed, peer.completed, 0.7));
  },
};
