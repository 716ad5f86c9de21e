import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { projectPath } from '#platform/project-path.js';
import type { Integrator } from '../../support/integrator.js';
import type { StartedStack } from '../../support/start-stack.js';
import { cpuMilliseconds } from './process-cpu.js';
import { somebody } from './somebody.js';

/** Warm-up readings. */
const WARM_UP = 100;

export interface Sustained {
  readonly perSecond: number;
  /** CPU time per reading of all processes, milliseconds. */
  readonly cpuMs: number;
  /** CPU time per reading for calculation and rendering alone, in a loop on every core, milliseconds. */
  readonly aloneMs: number;
}

/** Measures readings of different people at full load, from the first request to the last publication. */
export const measureSustained = async (
  stack: StartedStack,
  customer: Integrator,
  readings: number,
  settle: () => Promise<void>,
): Promise<Sustained> => {
  const request = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      const { status } = await customer.create(somebody(n));
      if (status !== 202) throw new Error(`A request was answered ${status}`);
    }
    await settle();
  };
  const pids = Object.entries(stack.pids()).flatMap(([name, pid]) => (name === 'main' ? [] : [pid]));
  const cpu = (): number => pids.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
  await request(0, WARM_UP);
  // Before and after, since the machine may become faster or slower meanwhile.
  const aloneBefore = await alone(readings);
  const [cpuBefore, startedAt] = [cpu(), performance.now()];
  await request(WARM_UP, WARM_UP + readings);
  const perSecond = (readings * 1_000) / (performance.now() - startedAt);
  const cpuMs = (cpu() - cpuBefore) / readings;
  return { perSecond, cpuMs, aloneMs: (aloneBefore + (await alone(readings))) / 2 };
};

/** The same people sequentially, on all cores at once, since cores that share hardware then run slower. */
const alone = async (readings: number): Promise<number> => {
  const program = projectPath('dist/test/bench/service/alone.js');
  const runs = await Promise.all(
    cpus().map(() => promisify(execFile)(process.execPath, [program, String(WARM_UP), String(readings)])),
  );
  return runs.reduce((sum, { stdout }) => sum + Number(stdout), 0) / runs.length;
};
