import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Integrator } from '../../support/integrator.js';
import { startPostgres } from '../../support/start-postgres.js';
import { startStack } from '../../support/start-stack.js';
import { startChild, type Child } from '../processes.js';
import { ratio, type Benchmark } from '../report.js';
import { concurrently, timed } from '../measure.js';
import { measureInTurns, withRefusals, type Load } from '../service/load.js';
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
  return {
    url: `${stack.baseUrl}/api/v1/readings`,
    apiKey: customer.apiKey,
    rest: () => process.kill(stack.pids().worker, 'SIGSTOP'),
    work: () => process.kill(stack.pids().worker, 'SIGCONT'),
    published: async () =>
      (
        await stack.query<{ count: number }>(
          'select count(*)::int from readings.reading where published_at is not null',
        )
      )[0]!.count,
    stop: async () => {
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
  const [api, worker] = (await Promise.all(
    ['api', 'worker'].map((mode) => startChild('crud/plain-build', [mode], env)),
  )) as [Child, Child];
  return {
    url: `http://127.0.0.1:${(JSON.parse(api.line) as { port: number }).port}/readings`,
    apiKey: API_KEY,
    rest: () => void worker.process.kill('SIGSTOP'),
    work: () => void worker.process.kill('SIGCONT'),
    published: async () =>
      (
        await pool.query<{ count: number }>(
          'select count(*)::int from crud.reading where published_at is not null',
        )
      ).rows[0]!.count,
    stop: async () => {
      await Promise.all([api.stop('SIGKILL'), worker.stop('SIGKILL')]);
      await pool.end();
      await postgres.stop();
    },
  };
};

/** Requests readings for the people numbered `from` to `to`. */
const request = ({ url, apiKey }: System, from: number, to: number): Promise<void> =>
  concurrently(8, to - from, async (n) => {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(somebody(from + n)),
    });
    if (status !== 202) throw new Error(`${url} answered ${status}`);
  });

/** Waits until `count` readings are published. */
const untilPublished = async (system: System, count: number): Promise<void> => {
  while ((await system.published()) < count) await delay(50);
};

/** Readings completed a second. The worker then rests. */
const completedRate = async (system: System, count: number): Promise<number> => {
  await request(system, 0, WARM_UP);
  await untilPublished(system, WARM_UP);
  system.rest();
  await request(system, WARM_UP, WARM_UP + count);
  const took = await timed(() => {
    system.work();
    return untilPublished(system, WARM_UP + count);
  });
  system.rest();
  return (count * 1_000) / took;
};

/** Measures the cost of events: compares the service with a build that keeps its state only in tables. */
export const crudBenchmark: Benchmark = {
  name: 'crud',
  title: 'The service and a plain build of it',
  explanation: `The floor is test/bench/crud: the same framework, body rules, calculation and typesetting over tables changed in place. It
has one transaction to accept a reading and one job to make it. It has no events, replay, idempotency or webhooks, and one key
for all sealed data.
Accepted: 64 connections, one workspace, idle workers. Completed: readings of ${READINGS} people that wait, one worker, until the last is published.`,
  async run({ seconds, count = READINGS, say, add }) {
    const [peer, service] = [await startPeer(), await startService()];
    try {
      say('  Completed…');
      const floor = await completedRate(peer, count);
      const completed = await completedRate(service, count);
      say('  Accepted…');
      const load = ({ url, apiKey }: System): Load => ({
        url,
        method: 'POST',
        body: JSON.stringify(somebody(0)),
        headers: { 'x-api-key': apiKey },
        expect: 202,
        seconds,
      });
      const [ours, theirs] = await measureInTurns(load(service), load(peer));
      add(withRefusals(ratio('readings accepted', ours.perSecond, theirs.perSecond, 0.7), ours, theirs));
      add(ratio('readings completed', completed, floor, 0.7));
    } finally {
      for (const system of [peer, service]) {
        system.work();
        await system.stop();
      }
    }
  },
};
