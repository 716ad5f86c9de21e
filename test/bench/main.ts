import { Command } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { projectPath } from '@app/platform/project-path.js';
import { Integrator, person, until } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/start-stack.js';
import { measure, type LoadResult } from './load.js';
import { cpuMilliseconds } from './process-cpu.js';

const bench = new Command('bench')
  .description(
    'Measures the service against a floor in the same run and prints the table of docs/benchmarks.md.',
  )
  .option('--seconds <n>', 'length of each load', Number, 8)
  .option('--readings <n>', 'readings in the cost measurement', Number, 200)
  .option('--write', 'write docs/benchmarks.md')
  .option('--json', 'print one JSON object')
  .parse();
const options = bench.opts<{ seconds: number; readings: number; write?: boolean; json?: boolean }>();

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const startBare = async (): Promise<{ url: string; stop(): void }> => {
  const child = spawn(process.execPath, [projectPath('dist/test/bench/bare-server.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url: `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}/bare`,
    stop: () => child.kill(),
  };
};

/** Waits until every accepted reading has ended and been published. */
const settle = (stack: StartedStack): Promise<void> =>
  until(
    async () => {
      const [row] = await query<{ left: number }>(
        stack,
        `select count(*)::int as left from readings.reading where status in ('queued', 'processing')
         or (status = 'completed' and published_at is null)`,
      );
      return row!.left === 0;
    },
    600_000,
    () => 'every reading ends',
  );

const query = async <T extends pg.QueryResultRow>(stack: StartedStack, text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
};

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? NaN;

/** Accepted requests, with the worker paused so that the API is measured and not what it sets in motion. */
const measurePosts = async (stack: StartedStack, customer: Integrator, bareUrl: string) => {
  const load = {
    method: 'POST',
    body: JSON.stringify(person()),
    expect: 202,
    seconds: options.seconds,
  } as const;
  const bare = await measure({ ...load, url: bareUrl });
  const worker = stack.pids().worker;
  process.kill(worker, 'SIGSTOP');
  const api = await measure({
    ...load,
    url: `${stack.baseUrl}/api/v1/readings`,
    headers: { 'x-api-key': customer.apiKey },
  });
  process.kill(worker, 'SIGCONT');
  return { bare, api };
};

const measureGets = async (
  stack: StartedStack,
  customer: Integrator,
  bareUrl: string,
  readings: readonly string[],
) => {
  const load = { method: 'GET', expect: 200, seconds: options.seconds } as const;
  const bare = await measure({
    ...load,
    url: new URL(bareUrl).origin,
    paths: readings.map((id) => `/bare/${id}`),
  });
  const headers = { 'x-api-key': customer.apiKey };
  const api = await measure({
    ...load,
    url: stack.baseUrl,
    paths: readings.map((id) => `/api/v1/readings/${id}`),
    headers,
  });
  return { bare, api };
};

/** CPU of each process while readings are made one after the other, and the time each took. */
const measureCost = async (stack: StartedStack, customer: Integrator) => {
  const pids = Object.entries(stack.pids()).filter(([name]) => name !== 'main');
  const before = new Map(pids.map(([name, pid]) => [name, cpuMilliseconds(pid)]));
  const ids: string[] = [];
  for (let made = 0; made < options.readings; made += 1) {
    ids.push((await customer.create(person())).body.readingId);
    await delay(150);
  }
  await settle(stack);
  await delay(500);
  const split = pids.map(([name, pid]) => ({
    name,
    ms: (cpuMilliseconds(pid) - before.get(name)!) / ids.length,
  }));
  const rows = await query<{ reading_id: string; ms: number }>(
    stack,
    'select reading_id, extract(epoch from published_at - created_at) * 1000 as ms from readings.reading where published_at is not null',
  );
  const wanted = new Set(ids);
  const times = rows.filter(({ reading_id: id }) => wanted.has(id)).map(({ ms }) => Number(ms));
  return { ids, split, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
};

const stack = await startStack({ env: { LOG_LEVEL: 'warn' } });
const bareServer = await startBare();
try {
  const customer = await Integrator.open(stack, 100_000_000);
  const { body } = await customer.create(person());
  await customer.untilEnded(body.readingId);
  say('Cost and latency of single readings…');
  const cost = await measureCost(stack, customer);
  say('GET against a bare route…');
  const gets = await measureGets(stack, customer, bareServer.url, cost.ids);
  say('POST against a bare route…');
  const posts = await measurePosts(stack, customer, bareServer.url);
  const report = { posts, gets, cost };
  const text = markdown(report);
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : `${text}\n`);
  if (options.write) writeFileSync(projectPath('docs/benchmarks.md'), text);
} finally {
  bareServer.stop();
  await stack.stop();
}

function markdown({
  posts,
  gets,
  cost,
}: {
  posts: { bare: LoadResult; api: LoadResult };
  gets: { bare: LoadResult; api: LoadResult };
  cost: Awaited<ReturnType<typeof measureCost>>;
}): string {
  const rate = ({ perSecond, p50, p99 }: LoadResult): string =>
    `${perSecond.toFixed(0)}/s, p50 ${p50} ms, p99 ${p99} ms`;
  const row = (name: string, { bare, api }: { bare: LoadResult; api: LoadResult }, aim: string): string =>
    `| ${name} | ${rate(api)} | ${rate(bare)} | **${(api.perSecond / bare.perSecond).toFixed(2)}** | ${aim} | ${api.unexpected} |`;
  const total = cost.split.reduce((sum, { ms }) => sum + ms, 0);
  return `# Benchmarks

\`npm run bench\` measures the service against a floor in the same run, so that the ratios mean something on any machine.
This table was written by \`npm run bench -- --write\` on ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB,
Node ${process.version}, the embedded stack (all processes and the load generator share the cores), 64 connections,
${options.seconds} s a load.

| what | service | floor (a bare Nest route, same body rules) | ratio | aim | unexpected answers |
|---|---|---|---|---|---|
${row('POST /readings accepted (worker paused)', posts, '≥ 0.15')}
${row('GET /readings/{id}', gets, '≥ 0.4')}

## One reading

CPU per completed and published reading over all processes: **${total.toFixed(0)} ms** (${options.readings} readings, one every 150 ms; idle work included).

| process | CPU per reading |
|---|---|
${cost.split.map(({ name, ms }) => `| ${name} | ${ms.toFixed(1)} ms |`).join('\n')}

From acceptance to published: p50 **${cost.p50.toFixed(0)} ms**, p99 **${cost.p99.toFixed(0)} ms**.
`;
}
