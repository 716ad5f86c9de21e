import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath } from '@app/platform/program-path.js';
import { startStack, type StartedStack } from '../../support/start-stack.js';
import { lastMonth } from '../last-month.js';
import type { Benchmark, Row } from '../report.js';
import { allCommands, ARGUMENTS, isEndless as runsOn, type Named } from './commands.js';

/** Starts of each command, unless `--count` says otherwise; the median counts. */
const ROUNDS = 5;
/** Node itself starts in 40 to 60 ms on an idle core, so this is at most 0.6 s. */
const MOST = 10;

/** Reports the CPU time of the process (ms) when it first connects to anything, or else when it exits. */
const REPORT = `data:text/javascript,${encodeURIComponent(`
  import net from 'node:net';
  import { writeSync } from 'node:fs';
  const connect = net.Socket.prototype.connect;
  const report = () => {
    const { user, system } = process.cpuUsage();
    writeSync(2, '\\nstarted ' + (user + system) / 1000 + '\\n');
  };
  process.once('exit', report);
  net.Socket.prototype.connect = function (...given) {
    net.Socket.prototype.connect = connect;
    process.off('exit', report);
    report();
    return connect.apply(this, given);
  };`)}`;

/** A command that runs until it is interrupted is interrupted after this. */
const ENDLESS_MS = 5_000;

interface Started {
  /** CPU time (ms) until the process connects to a store, or until it exits if it never does. */
  readonly cpu: number;
  /** Milliseconds until its end. */
  readonly whole: number;
}

const start = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  isEndless = false,
): Promise<Started> => {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', REPORT, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = isEndless ? setTimeout(() => child.kill('SIGINT'), ENDLESS_MS) : undefined;
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  clearTimeout(end);
  const [, started] = /^started ([\d.]+)$/m.exec(said) ?? [];
  if (started === undefined) throw new Error(`It did not start: ${said}`);
  return { cpu: Number(started), whole: performance.now() - startedAt };
};

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;

const row = (command: string, { cpu, whole }: Started, floor: number): Row => ({
  what: `ops ${command}`.trimEnd(),
  measured: `${cpu.toFixed(0)} ms${runsOn(command) ? '' : `, ended after ${(whole / 1_000).toFixed(1)} s`}`,
  floor: `${floor.toFixed(0)} ms`,
  value: cpu / floor,
  aim: `≤ ${MOST}`,
  met: cpu / floor <= MOST,
});

/** What the commands' arguments name. */
const prepare = async (stack: StartedStack): Promise<Omit<Named, 'NEW'>> => {
  const DIR = mkdtempSync(join(tmpdir(), 'ops-bench-'));
  const { workspaceId: WS } = (await stack.ops(['workspace', 'create', '--name', 'Bench'])) as {
    workspaceId: string;
  };
  const { keyId: KEY } = (await stack.ops(['key', 'issue', '--workspace', WS])) as { keyId: string };
  await stack.ops(['plan', 'subscribe', '--workspace', WS, '--plan', 'studio']);
  await stack.ops(['ledger', 'keygen', '--out', DIR]);
  await stack.ops(['operators', 'keygen', '--out', DIR]);
  const book = ['--workspace', WS, '--format', 'jsonl', '--out', join(DIR, 'book.jsonl')];
  await stack.ops(['ledger', 'export', ...book]);
  return { WS, KEY, DIR, MONTH: lastMonth() };
};

/** Measures how much each command loads before it asks a store for anything. Other load on the machine does not count. */
export const opsBenchmark: Benchmark = {
  name: 'ops',
  title: 'The operator’s commands',
  explanation: `CPU time until the process connects to a store, or until it has answered; the median of several starts. Floor: \`node -e 0\`
in turns with it. The end is by the clock, on a stack with one workspace: other load counts there. The section on the
month close has the commands that read all books, with 1,000 of them.`,
  async run({ count = ROUNDS, add }) {
    const stack: StartedStack = await startStack();
    const named = await prepare(stack);
    try {
      const main = programPath('ops');
      const commands = (await allCommands()).map((command) =>
        `${command} ${ARGUMENTS[command] ?? ''}`.trim(),
      );
      let runs = 0;
      for (const command of ['--help', 'ledger --help', ...commands]) {
        const env = {
          ...process.env,
          DATA_DIR: stack.dataDir,
          OPERATOR_KEY_FILE: join(named.DIR, 'operator-private.pem'),
        };
        const run = (): Promise<Started> => {
          const values: Named = { ...named, NEW: join(named.DIR, `new-${(runs += 1)}`) };
          const typed = command.replace(/\b(WS|KEY|DIR|NEW|MONTH)\b/g, (name) => values[name as keyof Named]);
          return start([main, ...typed.split(' ')], env, runsOn(command));
        };
        await run();
        const taken: Started[] = [];
        const floors: number[] = [];
        for (let round = 0; round < count; round += 1) {
          floors.push((await start(['-e', '0'], env)).cpu);
          taken.push(await run());
        }
        const middle = {
          cpu: median(taken.map(({ cpu }) => cpu)),
          whole: median(taken.map(({ whole }) => whole)),
        };
        add(row(command, middle, median(floors)));
      }
    } finally {
      await stack.stop();
      rmSync(named.DIR, { recursive: true, force: true });
    }
  },
};
