import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { DEFAULT_LIMITS } from '../support/default-limits.js';
import { fixture, startStack } from '../support/index.js';
import { Integrator, person, until, untilServed, type Reading } from '../support/integrator.js';

const stack = fixture(() =>
  startStack({
    env: {
      ...DEFAULT_LIMITS,
      // Below its default, to leave time for the test's own work within the three seconds.
      ENQUEUE_TIMEOUT_MS: '1500',
      RESERVATION_FENCE_MS: '10000',
    },
  }),
);
const customer = fixture(() => Integrator.open(stack, 100_000));

/** A reading of the customer. The time limits are short, and a busy machine reaches them without a fault. */
const accepted = async (): Promise<Reading> => {
  const answer = await untilServed(() => customer.create());
  expect(answer.status).toBe(202);
  return answer.body;
};
const completes = async ({ readingId }: Reading) =>
  expect((await customer.untilEnded(readingId)).status).toBe('completed');
const isReady = async (): Promise<boolean> => (await stack.ready()).status === 200;
const untilReady = () => until(isReady, 'readiness comes back');

/** A process that has ended meanwhile, as sessions of a database do, is no fault. */
const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
/** A process and its descendants, parents first. */
const descendants = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/);
  return [pid, ...children.filter(Boolean).flatMap((child) => descendants(Number(child)))];
};
/** Does the work while a store does not answer, and waits until it does again. */
const whileSilent = async (name: 'event-store' | 'postgres', work: () => Promise<unknown>): Promise<void> => {
  const frozen = descendants(stack.pids()[name]);
  for (const pid of frozen) signal(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    for (const pid of frozen) signal(pid, 'SIGCONT');
  }
  await untilReady();
};

it('While the event store does not answer, a POST is refused with 503 within three seconds and holds no credits; readiness fails, and all recovers without a restart', async () => {
  const pids = stack.pids();
  const before = await customer.balance();
  await whileSilent('event-store', async () => {
    const took: number[] = [];
    // A pause of the machine may delay one answer, but not every one.
    while (took.length < 5 && !took.some((milliseconds) => milliseconds <= 3_000)) {
      const startedAt = performance.now();
      const { status, body, headers } = await customer.create(person());
      took.push(performance.now() - startedAt);
      expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'enqueue_unavailable', '5']);
    }
    expect(Math.min(...took)).toBeLessThanOrEqual(3_000);
    await until(async () => !(await isReady()), 'readiness goes');
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
  });
  await accepted();
  expect(stack.pids()).toEqual(pids);
  // The frozen store may still write an append that arrived meanwhile. Then the hold is fenced and released.
  await until(async () => {
    const { available, held } = await customer.balance();
    return held === 0 && available % 20 === 0 && available <= before.available - 20;
  }, 'every hold ends');
});

it('While the database does not answer, every request is refused with 503 in bounded time, and the same processes recover', async () => {
  const { readingId } = await accepted();
  await customer.untilEnded(readingId);
  const pids = stack.pids();
  expect(descendants(pids.postgres).length).toBeGreaterThan(3);
  await whileSilent('postgres', async () => {
    const [post, get] = await Promise.all([
      customer.create(person()),
      customer.call('GET', `/api/v1/readings/${readingId}`),
    ]);
    expect([post.status, post.body['code']]).toEqual([503, 'enqueue_unavailable']);
    expect([get.status, get.body['code'], get.headers.get('retry-after')]).toEqual([
      503,
      'service_unavailable',
      '5',
    ]);
  });
  await completes(await accepted());
  expect(stack.pids()).toEqual(pids);
});
