import { describe, expect, it } from '@jest/globals';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { DEFAULT_LIMITS } from '../support/default-limits.js';
import { fixture, startStack } from '../support/index.js';
import { Integrator, person, until, untilServed, type Reading } from '../support/integrator.js';
import { PortalVisitor } from '../support/portal-visitor.js';

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
const accepted = async (body: object = person(), by = customer): Promise<Reading> => {
  const answer = await untilServed(() => by.create(body));
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

describe('while the event store does not answer', () => {
  it('a POST is refused with 503 within three seconds and holds no credits; readiness fails, and all recovers without a restart', async () => {
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

  it('the portal shows its pages, and says that nothing can be changed', async () => {
    let endpointId = '';
    await until(async () => {
      endpointId = await customer.endpoint('https://receiver.example.com/hook');
      return true;
    }, 'an endpoint');
    const at = `/webhooks/${endpointId}`;
    const { readingId } = await accepted({ ...person(), externalId: 'order-1' });
    await customer.untilEnded(readingId);
    const list = `${at}/deliveries`;
    const deliveries = async () =>
      (await customer.call<{ data: { deliveryId: string }[] }>('GET', `/api/v1${list}`)).body.data;
    await until(async () => (await deliveries()).length > 0, 'there is a delivery');
    const delivery = `${list}/${(await deliveries())[0]!.deliveryId}`;
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const { problems, partAway } = TEXTS.en;
    await whileSilent('event-store', async () => {
      const reading = `/readings/${readingId}`;
      const read = await Promise.all(
        ['', '/readings', reading, '/webhooks', at, delivery, '/events', '/keys'].map(async (path) => [
          path,
          (await visitor.get(`/portal${path}`)).status,
        ]),
      );
      expect(read.filter(([, status]) => status !== 200)).toEqual([]);
      expect((await visitor.get(`/portal${delivery}`)).text).toContain('order-1');
      expect((await visitor.get(`/portal${reading}`)).text).toContain(partAway);
      const refused = await visitor.post(`/portal${at}`, { action: 'pause' });
      expect([refused.status, refused.text.includes(problems.enqueue_unavailable)]).toEqual([503, true]);
    });
  });
});

it('When the event store restarts, each process says once that it has gone, and once that it is back', async () => {
  const GONE = 'the event store does not answer; calls to it are tried again';
  const BACK = 'the event store answers again after';
  const PROCESSES = ['api', 'worker'] as const;
  const logOf = (name: string): string => join(stack.dataDir, 'logs', `${name}.log`);
  await completes(await accepted());
  const from = { api: statSync(logOf('api')).size, worker: statSync(logOf('worker')).size };
  /** Warnings and errors of a process since then. A busy database keeps the rate limit waiting, too. */
  const complaints = (name: 'api' | 'worker'): readonly string[] =>
    readFileSync(logOf(name))
      .subarray(from[name])
      .toString()
      .split('\n')
      .filter((line) => /"level":"?(?:4\d|5\d|warn|error)/.test(line))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
      .filter((said) => !said.startsWith('the rate limit could not be asked'));
  const untilSaid = (what: string) =>
    until(async () => {
      // The API says so when callers ask.
      await customer.create(person());
      return PROCESSES.every((name) => complaints(name).some((line) => line.startsWith(what)));
    }, `API and worker say that ${what}`);
  const eventStore = stack.pids()['event-store'];
  process.kill(eventStore, 'SIGSTOP');
  await untilSaid(GONE);
  process.kill(eventStore, 'SIGKILL');
  await untilSaid(BACK);
  await completes(await accepted());
  for (const name of PROCESSES) expect(complaints(name)).toEqual([GONE, expect.stringContaining(BACK)]);
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

it('A test reading that asked to wait waits as long, and completes once, although its worker is killed', async () => {
  const tester = await customer.inTestMode();
  const body = await accepted({ ...person(), metadata: { test_outcome: 'slow:4' } }, tester);
  await delay(1_500);
  process.kill(stack.pids().worker, 'SIGKILL');
  const ended = await tester.untilEnded(body.readingId);
  expect(ended).toMatchObject({ status: 'completed', livemode: false });
  const waitedMs = Date.parse(String(ended['completedAt'])) - Date.parse(String(body['createdAt']));
  expect(waitedMs).toBeGreaterThan(3_900);
  const path = `/api/v1/readings/${body.readingId}/events`;
  const { data } = (await tester.call<{ data: { type: string }[] }>('GET', path)).body;
  const made = data.map(({ type }) => type).filter((type) => ['started', 'completed'].includes(type));
  expect(made).toEqual(['started', 'completed']);
  await tester.untilConsumed(20);
});

it('When the event store is killed under load, API and worker survive with calls in flight, and what was accepted completes', async () => {
  const { api, worker, 'event-store': killed } = stack.pids();
  // A call beyond the credits asks the store, too, and leaves nothing to calculate.
  const busy = await Integrator.open(stack, 200);
  const orders: string[] = [];
  let loading = true;
  const callers = Array.from({ length: 8 }, async () => {
    while (loading) {
      const answer = await busy.create(person());
      if (answer.status === 202) orders.push(answer.body.readingId);
      else expect([503, 402]).toContain(answer.status);
    }
  });
  await until(() => orders.length > 0, 'an order is accepted');
  process.kill(killed, 'SIGKILL');
  // Readiness is checked once a second, so it may still be the earlier answer.
  await until(async () => stack.pids()['event-store'] !== killed && (await isReady()), 'it is ready again');
  loading = false;
  await Promise.all(callers);
  expect(stack.pids()).toMatchObject({ api, worker });
  for (const readingId of orders.slice(-3))
    expect((await busy.untilEnded(readingId)).status).toBe('completed');
});
