import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { removeDataFolder, temporaryDataDir } from '../../support/data-dir.js';
import { Integrator, person, until } from '../../support/integrator.js';
import { startStack, type StartedStack } from '../../support/start-stack.js';
import { startChild, cpuMilliseconds } from '../processes.js';
import { atMost, perSecond, ratio, told, type Benchmark, type Row } from '../report.js';
import { quantile } from '../measure.js';
import { bulkRate, measureBulks, OFFERED, measureLag, measureLatency, measureSustained } from './readings.js';
import { MANY_READINGS, measureFlatness } from './flatness.js';
import { measureInTurns, withRefusals, type Load, type LoadResult } from './load.js';
import { somebody } from './somebody.js';

/** Readings in each cost measurement: one at a time, and many at once. */
const READINGS = 200;
/** Length of the load that measures a projection's lag. Readings still queued are generated afterwards. */
const LAG_SECONDS = 10;

const startBare = async (): Promise<{ url: string; stop(): Promise<void> }> => {
  const { line, stop } = await startChild('service/bare-server');
  return { url: `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/bare`, stop };
};

/** Waits until every accepted reading has ended and is published. */
const settle = (stack: StartedStack): Promise<void> =>
  until(
    async () => {
      const [row] = await stack.query<{ left: number }>(
        `select count(*)::int as left from readings.reading where status in ('queued', 'processing')
         or (status = 'completed' and published_at is null)`,
      );
      return row!.left === 0;
    },
    () => 'every reading ends',
    600_000,
  );

/** Measures accepted requests, with the worker paused, so that only the API is measured. */
const measurePosts = (
  stack: StartedStack,
  customer: Integrator,
  bareUrl: string,
  seconds: number,
): Promise<Pair> => {
  process.kill(stack.pids().worker, 'SIGSTOP');
  const posts = { method: 'POST', body: JSON.stringify(person()), expect: 202, seconds } as const;
  return pairOf(
    { ...posts, url: bareUrl },
    { ...posts, url: `${stack.baseUrl}/api/v1/readings`, headers: { 'x-api-key': customer.apiKey } },
  );
};

const measureGets = async (
  stack: StartedStack,
  customer: Integrator,
  bare: string,
  readings: readonly string[],
  seconds: number,
) => {
  const load = { method: 'GET', expect: 200, seconds, headers: { 'x-api-key': customer.apiKey } } as const;
  const floor = (paths: readonly string[]): Load => ({ ...load, url: new URL(bare).origin, paths });
  const ofApi = (suffix: string): Load => ({
    ...load,
    url: stack.baseUrl,
    paths: readings.map((id) => `/api/v1/readings/${id}${suffix}`),
  });
  /** The bare route returns as many bytes as the first reading has. */
  const sized = async (suffix: string): Promise<Pair> => {
    const [first] = readings;
    const answer = await fetch(`${stack.baseUrl}/api/v1/readings/${first}${suffix}`, {
      headers: load.headers,
    });
    const { byteLength } = await answer.arrayBuffer();
    return pairOf(floor([`/bare/sized/${byteLength}`]), ofApi(suffix));
  };
  const status = await pairOf(floor(readings.map((id) => `/bare/${id}`)), ofApi(''));
  return {
    status,
    result: await sized('/result'),
    document: await sized('/document?format=document_v1'),
  };
};

/** Measures the CPU time of each process while readings are generated one at a time. */
const measureCost = async (stack: StartedStack, customer: Integrator, readings: number) => {
  const pids = Object.entries(stack.pids()).filter(([name]) => name !== 'main');
  const before = new Map(pids.map(([name, pid]) => [name, cpuMilliseconds(pid)]));
  const ids: string[] = [];
  for (let made = 0; made < readings; made += 1) {
    ids.push((await customer.create(somebody(made))).body.readingId);
    await delay(150);
  }
  await settle(stack);
  await delay(500);
  const split = pids.map(([name, pid]) => ({
    name,
    ms: (cpuMilliseconds(pid) - before.get(name)!) / ids.length,
  }));
  return { ids, split };
};

interface Pair {
  readonly bare: LoadResult;
  readonly api: LoadResult;
}

/** Measures a route and its floor in turns. */
const pairOf = async (floor: Load, route: Load): Promise<Pair> => {
  const [bare, api] = await measureInTurns(floor, route);
  return { bare, api };
};

/** The rate of a route, compared with that of a bare route. */
const rateRow = (what: string, { bare, api }: Pair, least: number): Row => {
  const rate = ({ perSecond: each, p50, p99 }: LoadResult): string =>
    `${perSecond(each)}, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  const value = api.perSecond / bare.perSecond;
  return withRefusals(
    { what, measured: rate(api), floor: rate(bare), value, aim: `≥ ${least}`, met: value >= least },
    bare,
    api,
  );
};

/** Compares requests with a bare route, and measures the cost of a reading from acceptance to publication. */
export const serviceBenchmark: Benchmark = {
  name: 'service',
  title: 'The service',
  explanation: `The embedded stack, all its processes on the same cores as the load generator, 64 connections. The floors are bare
Nest routes in a process with the same flags and body rules that answer as many bytes. Each measurement follows 6,000 requests.
A route and its floor are loaded in turns; p50 and p99 are means over the turns.
CPU per reading includes idle work: one reading every 150 ms.
The ${MANY_READINGS} readings are failed ones: two events, a row and a key each. A full stack and an empty one are loaded in turns.`,
  async run({ seconds, count = READINGS, add, say }) {
    const dataDir = temporaryDataDir();
    const stack = await startStack({ dataDir, env: { LOG_LEVEL: 'warn' } });
    const bareServer = await startBare();
    const database = new pg.Pool({ connectionString: stack.databaseUrl, max: 4 });
    database.on('error', () => undefined);
    try {
      const customer = await Integrator.open(stack, 100_000_000);
      const { body } = await customer.create(person());
      await customer.untilEnded(body.readingId);
      say('  Cost and latency of single readings…');
      const cost = await measureCost(stack, customer, count);
      const total = cost.split.reduce((sum, { ms }) => sum + ms, 0);
      add(told('CPU per published reading, all processes, one at a time', total, 'ms'));
      for (const { name, ms } of cost.split) add(told(`CPU per published reading, ${name}`, ms, 'ms'));
      const latencies = await measureLatency(customer, database, count);
      add(atMost('acceptance to published, idle, p50', quantile(latencies, 0.5), 'ms', 300));
      add(atMost('acceptance to published, idle, p99', quantile(latencies, 0.99), 'ms', 1_000));
      say('  Many readings at once…');
      const sustained = await measureSustained(stack, customer, count, () => settle(stack));
      add(told('readings published, sustained', sustained.perSecond, '/s'));
      const { cpuMs, aloneMs } = sustained;
      add({
        what: 'CPU per reading, sustained, all processes; floor: calculation and rendering alone on every core',
        measured: `${cpuMs.toFixed(1)} ms`,
        floor: `${aloneMs.toFixed(1)} ms`,
        value: cpuMs / aloneMs,
        aim: '≤ 1.7',
        met: cpuMs / aloneMs <= 1.7,
      });
      const { lags, perSecond: accepted } = await measureLag(customer, database, LAG_SECONDS);
      const lag = quantile(lags, 0.99);
      add({
        what: `lag of the status projection, ${OFFERED} readings/s offered, p99`,
        measured: `${lag.toFixed(1)} ms, ${perSecond(accepted)} accepted`,
        value: lag,
        aim: `≤ 250 ms, ${OFFERED}/s accepted`,
        met: lag <= 250 && accepted >= 0.95 * OFFERED,
      });
      await settle(stack);
      say('  Requests…');
      const gets = await measureGets(stack, customer, bareServer.url, cost.ids, seconds);
      add(rateRow('GET /readings/{id}', gets.status, 0.6));
      add(rateRow('GET /readings/{id}/result', gets.result, 0.5));
      add(rateRow('GET /readings/{id}/document, document_v1', gets.document, 0.5));
      const posts = await measurePosts(stack, customer, bareServer.url, seconds);
      add(rateRow('POST /readings accepted (worker paused)', posts, 0.3));
      add(atMost('POST /readings accepted, p99', posts.api.p99, 'ms', 100));
      const bulks = await measureBulks(customer);
      const bulkOf = 'readings accepted in bulks of 1,000 (worker paused)';
      add(ratio(`${bulkOf}; floor: one a request`, bulkRate(bulks), posts.api.perSecond, 1));
      add(atMost('a bulk of 1,000 accepted, slowest of 5', Math.max(...bulks), 'ms', 2_000));
    } finally {
      await bareServer.stop();
      await database.end();
      // No need to stop gracefully: the data is discarded.
      await stack.killAll();
      await stack.stop();
      removeDataFolder(dataDir);
    }
    say(`  ${MANY_READINGS} readings…`);
    const folders = { full: temporaryDataDir(), empty: temporaryDataDir() };
    try {
      (await measureFlatness(folders, seconds)).forEach(add);
    } finally {
      Object.values(folders).forEach(removeDataFolder);
    }
  },
};
