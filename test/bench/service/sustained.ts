import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { projectPath } from '@app/platform/project-path.js';
import type { Integrator } from '../../support/integrator.js';
import type { StartedStack } from '../../support/start-stack.js';
import { cpuMilliseconds } from './process-cpu.js';
import { somebody } from './somebody.js';

/** Readings made before those that count. */
const WARM_UP = 100;

export interface Sustained {
  readonly perSecond: number;
  /** CPU per reading of all processes, milliseconds. */
  readonly cpuMs: number;
  /** CPU of the same readings calculated and rendered in a loop on every core, with nothing around it, milliseconds. */
  readonly aloneMs: number;
}

/** Readings of different people, as many as the stack can make, from the first request to the last publication. */
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
  const [cpuBefore, startedAt] = [cpu(), performance.now()];
  await request(WARM_UP, WARM_UP + readings);
  return {
    perSecond: (readings * 1_000) / (performance.now() - startedAt),
    cpuMs: (cpu() - cpuBefore) / readings,
    aloneMs: await alone(readings),
  };
};

/** The same people one after the other on every core at once: cores that share what they compute with are slower then. */
const alone = async (readings: number): Promise<number> => {
  const program = projectPath('dist/test/bench/service/alone.js');
  const runs = await Promise.all(
    cpus().map(() => promisify(execFile)(process.execPath, [program, String(WARM_UP), String(readings)])),
  );
  return runs.reduce((sum, { stdout }) => sum + Number(stdout), 0) / runs.length;
};
