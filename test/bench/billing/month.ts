import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { programPath } from '#platform/program-path.js';
import { type StartedStores, startStores } from '../../support/start-processes.js';
import { inFolder } from '../measure.js';
import { memoryMiB } from '../processes.js';
import type { Settings, Benchmark } from '../report.js';
import { connect } from './books.js';
import { fillMonth } from './month-books.js';

/** Seconds of one book: 1,000 books in two minutes. */
const MOST_PER_BOOK = 0.12;

interface Measured {
  readonly seconds: number;
  /** Most memory of the command, MiB. */
  readonly peak: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Runs one command as an operator would, in a process of its own. @throws Error unless its exit code is 0 */
const ops = async (stores: StartedStores, args: readonly string[]): Promise<Measured> => {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--max-semi-space-size=32', programPath('ops'), ...args, '--json'], {
    env: stores.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [out, peak] = ['', 0];
  const watch = setInterval(() => (peak = Math.max(peak, memoryMiB(child.pid!, 'VmHWM'))), 100);
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(watch);
  if (code !== 0) throw new Error(`ops ${args.join(' ')} ended with ${code}: ${out}`);
  const answer = JSON.parse(out) as Measured['answer'];
  return { seconds: (performance.now() - startedAt) / 1_000, peak, answer };
};

/** What finance runs on all books, with its duration. */
const measureMonth = async (
  stores: StartedStores,
  pool: Pick<pg.Pool, 'query'>,
  { books, period, folder }: { books: number; period: string; folder: string },
  add: Settings['add'],
): Promise<void> => {
  await ops(stores, ['ledger', 'keygen', '--out', folder]);
  const key = join(folder, 'seal-private.pem');
  const month = ['ledger', 'month', '--period', period, '--all', '--key', key, '--out', folder];
  const roots = new Set<unknown>();
  const run = async (what: string, args: readonly string[]): Promise<void> => {
    const { answer, seconds, peak } = await ops(stores, args);
    const found = Array.isArray(answer['books']) ? answer['books'].length : answer['books'];
    if (found !== books) throw new Error(`${what}: ${String(found)} books, not ${books}`);
    if ('merkleRoot' in answer) roots.add(answer['merkleRoot']);
    const most = books * MOST_PER_BOOK;
    const measured = `${seconds.toFixed(1)} s; ${peak.toFixed(0)} MiB`;
    add({ what, measured, aim: `≤ ${most.toFixed(0)} s`, met: seconds <= most });
  };
  await run(`ledger month of ${books} books that are still open`, month);
  // No worker follows the log here.
  await pool.query('update billing.balance set revision = revision + 1, due_at = now()');
  await run('the same month again, all books closed', [...month, '--replace']);
  await run('ledger reconcile --all', ['ledger', 'reconcile', '--all']);
  await run('ledger verify --all', ['ledger', 'verify', '--all']);
  if (roots.size !== 1) throw new Error('The runs made different seals');
};

/** Workspaces whose month is closed. */
const BOOKS = 1_000;

/** The month (UTC) that ended last, `yyyy-mm`. */
const lastMonth = (): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
};

/** The commands that read all books, on the embedded stores. `--count` is the number of books. */
export const monthBenchmark: Benchmark = {
  name: 'month',
  title: 'The month close',
  explanation: `The operator's commands on all books. Each book has 1,000 events, and its 499 readings have 998 more, in one log.
The embedded stores have processes of their own; the time to fill them does not count.`,
  run: ({ count = BOOKS, add, say }) =>
    inFolder(async (folder) => {
      const stores = await startStores({});
      const pool = new pg.Pool({ connectionString: stores.databaseUrl });
      const store = await connect(stores.eventStoreUrl);
      try {
        const period = lastMonth();
        say(`  Filling ${count} books…`);
        await fillMonth(store, pool, count, period);
        await measureMonth(stores, pool, { books: count, period, folder }, add);
      } finally {
        await store.close();
        await pool.end();
        await stores.stop();
      }
    }),
};
