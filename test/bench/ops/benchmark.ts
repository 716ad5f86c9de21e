import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programPath } from '@app/platform/program-path.js';
import { startStack, type StartedStack } from '../../support/start-stack.js';
import type { Benchmark, Row } from '../report.js';

/** Starts of each command, unless `--count` says otherwise; the median counts. */
const ROUNDS = 9;
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

/** @returns the CPU time (ms) until the process connects to a store, or until it exits if it never does */
const start = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const child = spawn(process.execPath, ['--import', REPORT, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  const [, started] = /^started ([\d.]+)$/m.exec(said) ?? [];
  if (started === undefined) throw new Error(`It did not start: ${said}`);
  return Number(started);
};

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;

/** Commands of every kind; those that change something change it once, or nothing. */
const commandsFor = (workspace: string): readonly string[] =>
  [
    '--help',
    'ledger --help',
    'workspace list',
    'key list --workspace WS',
    'token mint --workspace WS --scope keys:read',
    'plan subscribe --workspace WS --plan studio',
    'pack add --workspace WS --pack sprint --order bench',
    'plan show --workspace WS',
    'corrections list',
    'operators list',
    'ledger balance --workspace WS',
    'ledger verify --all',
    'ledger reconcile --all',
    'webhooks list',
    'webhooks health',
    'projections list',
    'projections status',
    'projections verify --all',
    'processes list',
    'processes parked',
    'streams show workspace-WS',
    'streams find --type WorkspaceOpened',
    'events --reading 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11',
    'erase 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11',
    'keys status',
    'keys rewrap',
    'audit',
    'migrate',
    'doctor',
  ].map((command) => command.replaceAll('WS', workspace));

const row = (command: string, milliseconds: number, floor: number): Row => ({
  what: `ops ${command}`,
  measured: `${milliseconds.toFixed(0)} ms`,
  floor: `${floor.toFixed(0)} ms`,
  value: milliseconds / floor,
  aim: `≤ ${MOST}`,
  met: milliseconds / floor <= MOST,
});

/** Measures how much a command loads before it asks a store for anything. Other load on the machine does not count. */
export const opsBenchmark: Benchmark = {
  name: 'ops',
  title: 'The operator’s commands',
  explanation:
    'CPU time until the process connects to a store, or until it has answered; the median of several starts. Floor: `node -e 0` in turns with it.',
  async run({ count = ROUNDS, add }) {
    const stack: StartedStack = await startStack();
    try {
      const { workspaceId } = (await stack.ops(['workspace', 'create', '--name', 'Bench'])) as {
        workspaceId: string;
      };
      const env = { ...process.env, DATA_DIR: stack.dataDir };
      const main = programPath('ops');
      for (const command of commandsFor(workspaceId)) {
        const args = [main, ...command.split(' ')];
        await start(args, env);
        const taken: number[] = [];
        const floors: number[] = [];
        for (let round = 0; round < count; round += 1) {
          floors.push(await start(['-e', '0'], env));
          taken.push(await start(args, env));
        }
        add(row(command.replaceAll(workspaceId, 'ws_…'), median(taken), median(floors)));
      }
    } finally {
      await stack.stop();
    }
  },
};
