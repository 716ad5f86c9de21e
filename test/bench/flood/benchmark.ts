import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { projectPath } from '@app/platform/project-path.js';
import { Integrator } from '../../support/integrator.js';
import { startStack, type StartedStack } from '../../support/start-stack.js';
import { atMost, type Benchmark } from '../report.js';
import { ATTACKS, type Attack } from './attacks.js';

/** The default limits per address. */
const AS_DELIVERED = {
  RATE_UNAUTHENTICATED_PER_MINUTE: '30',
  RATE_PUBLIC_PER_MINUTE: '600',
  RATE_PUBLIC_BURST: '60',
  RATE_PROBE_PER_MINUTE: '600',
  RATE_PROBE_BURST: '60',
  HTTP_CONNECTIONS_PER_ADDRESS: '500',
};
/** Pause between two requests of the caller with a key, milliseconds. */
const PAUSE_MS = 10;
/** Warm-up requests of that caller. */
const WARM_UP = 500;
/** Time until a flood reaches its full rate, milliseconds. */
const RISE_MS = 300;
const TIMES = 5;

/** A caller with a key, who repeatedly requests the credits of a workspace on one connection. */
class Caller {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  /** Sends one request. @returns its duration in milliseconds @throws Error when the status is not 200 */
  ask(): Promise<number> {
    const path = '/api/v1/credits';
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const request = get(
        this.baseUrl + path,
        { agent: this.agent, headers: { 'x-api-key': this.apiKey } },
        (answer) => {
          answer.resume();
          answer.once('end', () =>
            answer.statusCode === 200
              ? resolve(performance.now() - startedAt)
              : reject(new Error(`${path} was answered ${answer.statusCode}`)),
          );
        },
      );
      request.once('error', reject);
    });
  }

  /** Sends requests for the given milliseconds. @returns the 99th percentile of their durations */
  async p99(milliseconds: number): Promise<number> {
    const took: number[] = [];
    for (const ends = Date.now() + milliseconds; Date.now() < ends; await delay(PAUSE_MS))
      took.push(await this.ask());
    return took.sort((a, b) => a - b)[Math.ceil(took.length * 0.99) - 1] ?? NaN;
  }
}

const underAttack = async (stack: StartedStack, attack: Attack, caller: Caller, seconds: number) => {
  const attacker = spawn(
    process.execPath,
    [projectPath('dist/test/bench/flood/attacker.js'), stack.baseUrl, attack.name, String(seconds)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const left = once(attacker, 'close');
  await delay(RISE_MS);
  const p99 = await caller.p99(seconds * 1_000 - 2 * RISE_MS);
  await left;
  const leftAt = performance.now();
  await caller.ask();
  return { p99, afterwards: performance.now() - leftAt };
};

export const floodBenchmark: Benchmark = {
  name: 'flood',
  title: 'Floods without credentials',
  explanation: `Each flood comes from one address, on 10 to 50 connections, as fast as another process can send it. Meanwhile a caller
with a key asks for its credits every ${PAUSE_MS} ms; floor: the same when nobody else asks, measured before each flood. The
limits are those of the service as delivered. In the end the attacker leaves at once, and the caller asks again.`,
  run: async ({ seconds, add }) => {
    const stack = await startStack({ env: AS_DELIVERED });
    try {
      const { apiKey } = await Integrator.open(stack, 0);
      const caller = new Caller(stack.baseUrl, apiKey);
      for (let n = 0; n < WARM_UP; n += 1) await caller.ask();
      let slowest = 0;
      for (const attack of ATTACKS) {
        const quiet = await caller.p99(seconds * 1_000);
        const { p99, afterwards } = await underAttack(stack, attack, caller, seconds);
        slowest = Math.max(slowest, afterwards);
        add({
          what: `authenticated GET, p99, during: ${attack.name}`,
          measured: `${p99.toFixed(1)} ms`,
          floor: `${quiet.toFixed(1)} ms`,
          value: p99 / quiet,
          aim: `≤ ${TIMES}`,
          met: p99 / quiet <= TIMES,
        });
      }
      add(atMost('authenticated GET as soon as the attacker has left, slowest', slowest, 'ms', 1_000));
    } finally {
      await stack.stop();
    }
  },
};
