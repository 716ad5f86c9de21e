import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type pg from 'pg';
import { programPath } from '#platform/program-path.js';
import type { StartedStores } from '../../support/start-processes.js';
import { cpuMilliseconds } from '../service/process-cpu.js';
import { peakMiB } from '../service/process-memory.js';
import type { Settings } from '../report.js';

/** Seconds of one book: 1,000 books in two minutes. */
const MOST_PER_BOOK = 0.12;

interface Measured {
  readonly seconds: number;
  /** Seconds of the command and of the stores. */
  readonly cpu: { readonly ops: number; readonly stores: number };
  /** Most memory of the command, MiB. */
  readonly peak: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Runs one command as an operator would, in a process of its own. @throws Error unless its exit code is 0 */
const ops = async (stores: StartedStores, args: readonly string[]): Promise<Measured> => {
  const before = cpuMilliseconds(process.pid);
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--max-semi-space-size=32', programPath('ops'), ...args, '--json'], {
    env: stores.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  let [own, peak] = [0, 0];
  const watch = setInterval(() => {
    own = cpuMilliseconds(child.pid!);
    peak = Math.max(peak, peakMiB(child.pid!));
  }, 100);
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(watch);
  const seconds = (performance.now() - startedAt) / 1_000;
  // This process has reaped it, so its time counts below.
  const all = cpuMilliseconds(process.pid) - before;
  if (code !== 0) throw new Error(`ops ${args.join(' ')} ended with ${code}: ${out}`);
  const cpu = { ops: own / 1_000, stores: (all - own) / 1_000 };
  return { seconds, cpu, peak, answer: JSON.parse(out) as Measured['answer'] };
};

const describe = ({ seconds, cpu, peak }: Measured): string =>
  `${seconds.toFixed(1)} s; CPU ${cpu.ops.toFixed(0)} s, of the stores ${cpu.stores.toFixed(0)} s; ${peak.toFixed(0)} MiB`;

/** What finance runs on all books, with its duration. */
export const measureMonth = async (
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
    const measured = await ops(stores, args);
    const { answer, seconds } = measured;
    const found = Array.isArray(answer['books']) ? answer['books'].length : answer['books'];
    if (found !== books) throw new Error(`${what}: ${String(found)} books, not ${books}`);
    if ('merkleRoot' in answer) roots.add(answer['merkleRoot']);
    const most = books * MOST_PER_BOOK;
    add({ what, measured: describe(measured), aim: `≤ ${most.toFixed(0)} s`, met: seconds <= most });
  };
  await run(`ledger month of ${books} books that are still open`, month);
  // No worker follows the log here.
  await pool.query('update billing.balance set revision = revision + 1, due_at = now()');
  await run('the same month again, all books closed', [...month, '--replace']);
  await run('ledger reconcile --all', ['ledger', 'reconcile', '--all']);
  await run('ledger verify --all', ['ledger', 'verify', '--all']);
  if (roots.size !== 1) throw new Error('The runs made different seals');
};
