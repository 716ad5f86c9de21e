import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import type { Integrator } from './integrator.js';
import type { StartedProcess } from './start-process.js';

const TICK_MS = 10;
/** CPU time that a process has used, milliseconds: other programs of a slow machine do not count. */
const cpuOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * TICK_MS;
};

/** How long /healthz and a neighbour's GET wait at most, in time and in CPU time of the API, until `done`. */
export const longestWait = async (
  { baseUrl, pid }: Pick<StartedProcess, 'baseUrl' | 'pid'>,
  { apiKey }: Integrator,
  done: Promise<unknown>,
): Promise<number> => {
  const agent = new Agent({ keepAlive: true });
  const statusOf = (target: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      send(baseUrl + target, { agent, headers: { 'x-api-key': apiKey } }, (incoming) => {
        incoming.resume().once('error', reject);
        incoming.once('end', () => resolve(incoming.statusCode));
      })
        .once('error', reject)
        .end();
    });
  let isOver = false;
  void done.finally(() => (isOver = true)).catch(() => undefined);
  const waited = async (target: string): Promise<number> => {
    const from = { at: performance.now(), cpu: cpuOf(pid) };
    const status = await statusOf(target);
    if (status !== 200) throw new Error(`${target} answers ${status}`);
    return Math.min(performance.now() - from.at, cpuOf(pid) - from.cpu);
  };
  const probe = async (target: string): Promise<number> => {
    let longest = 0;
    do longest = Math.max(longest, await waited(target));
    while (!isOver);
    return longest;
  };
  try {
    const found = await Promise.all(['/healthz', '/api/v1/credits'].map(probe));
    await done;
    return Math.max(...found);
  } finally {
    agent.destroy();
  }
};
