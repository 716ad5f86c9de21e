import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Integrator, person, until, untilServed, type Reading } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/index.js';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { PortalVisitor } from '../support/portal-visitor.js';
import { DEFAULT_LIMITS } from '../support/default-limits.js';

let stack: StartedStack;
let customer: Integrator;

beforeAll(async () => {
  stack = await startStack({
    env: {
      ...DEFAULT_LIMITS,
      // Below its default, to leave time for the test's own work within the three seconds.
      ENQUEUE_TIMEOUT_MS: '1500',
      RESERVATION_FENCE_MS: '10000',
    },
  });
  customer = await Integrator.open(stack, 100_000);
});

afterAll(async () => {
  await stack?.stop();
});

/** A reading of the customer. The time limits are short, and a busy machine reaches them without a fault. */
const accepted = async (body: object = person(), by = customer): Promise<Reading> => {
  const answer = await untilServed(() => by.create(body));
  expect(answer.status).toBe(202);
  return answer.body;
};

const ready = async (): Promise<boolean> => (await fetch(`${stack.baseUrl}/readyz`)).status === 200;

describe('while the event store does not answer', () => {
  it('refuses a POST with 503 within three seconds, holds no credits, and recovers without a restart', async () => {
    const api = stack.pids().api;
    const before = await customer.balance();
    const eventStore = stack.pids()['event-store'];
    process.kill(eventStore, 'SIGSTOP');
    const took: number[] = [];
    try {
      // A pause of the machine may delay one answer, but not every one.
      while (took.length < 5 && !took.some((milliseconds) => milliseconds <= 3_000)) {
        const startedAt = performance.now();
        const { status, body, headers } = await customer.create(person());
        took.push(performance.now() - startedAt);
        expect([status, body['code'], headers.get('retry-after')]).toEqual([503, 'enqueue_unavailable', '5']);
      }
    } finally {
      process.kill(eventStore, 'SIGCONT');
    }
    expect(Math.min(...took)).toBeLessThanOrEqual(3_000);

    await until(
      async () => (await customer.create(person())).status === 202,
      () => 'a POST is accepted again',
    );
    expect(stack.pids().api).toBe(api);
    // The frozen store may still write an append that arrived meanwhile. Then the hold is fenced and released.
    await until(
      async () => {
        const { available, held } = await customer.balance();
        return held === 0 && available % 20 === 0 && available <= before.available - 20;
      },
      () => 'every hold ends',
    );
  });

  it('shows the pages of the portal, and says that nothing can be changed', async () => {
    const { body: endpoint } = await untilServed(() =>
      customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
        body: { url: 'https://receiver.example.com/hook' },
      }),
    );
    const at = `/webhooks/${endpoint.endpointId}`;
    const ordered = await accepted({ ...person(), externalId: 'order-1' });
    await customer.untilEnded(ordered.readingId);
    const deliveries = () =>
      customer.call<{ data: { deliveryId: string }[] }>('GET', `/api/v1${at}/deliveries`);
    await until(
      async () => (await deliveries()).body.data.length > 0,
      () => 'there is a delivery',
    );
    const delivery = `${at}/deliveries/${(await deliveries()).body.data[0]!.deliveryId}`;
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const { problems, partAway } = TEXTS.en;
    const eventStore = stack.pids()['event-store'];
    process.kill(eventStore, 'SIGSTOP');
    try {
      const read = await Promise.all(
        [
          '',
          '/readings',
          `/readings/${ordered.readingId}`,
          '/webhooks',
          at,
          delivery,
          '/events',
          '/keys',
        ].map(async (path) => [path, (await visitor.get(`/portal${path}`)).status]),
      );
      expect(read.filter(([, status]) => status !== 200)).toEqual([]);
      expect((await visitor.get(`/portal${delivery}`)).text).toContain('order-1');
      expect((await visitor.get(`/portal/readings/${ordered.readingId}`)).text).toContain(partAway);
      const refused = await visitor.post(`/portal${at}`, { action: 'pause' });
      expect([refused.status, refused.text.includes(problems.enqueue_unavailable)]).toEqual([503, true]);
    } finally {
      process.kill(eventStore, 'SIGCONT');
    }
    await until(ready, () => 'readiness comes back');
  });

  it('GET /readyz fails, GET /healthz does not', async () => {
    const eventStore = stack.pids()['event-store'];
    process.kill(eventStore, 'SIGSTOP');
    try {
      await until(
        async () => !(await ready()),
        () => 'readiness goes',
      );
      expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
    } finally {
      process.kill(eventStore, 'SIGCONT');
    }
    await until(ready, () => 'readiness comes back');
  });
});

describe('when the event store restarts', () => {
  const GONE = 'the event store does not answer; calls to it are tried again';
  const BACK = 'the event store answers again after';

  /** Warnings and errors in the log of a process from this byte on. A busy database keeps the rate limit waiting, too. */
  const complaints = (name: 'api' | 'worker', from: number): readonly string[] =>
    readFileSync(logOf(name))
      .subarray(from)
      .toString()
      .split('\n')
      .filter((line) => /"level":"?(?:4\d|5\d|warn|error)/.test(line))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
      .filter((said) => !said.startsWith('the rate limit could not be asked'));
  const logOf = (name: string): string => join(stack.dataDir, 'logs', `${name}.log`);

  it('each process says once that it has gone, and once that it is back', async () => {
    await customer.untilEnded((await accepted()).readingId);
    const from = { api: statSync(logOf('api')).size, worker: statSync(logOf('worker')).size };
    const said = (name: 'api' | 'worker', what: string): boolean =>
      complaints(name, from[name]).some((line) => line.startsWith(what));
    const eventStore = stack.pids()['event-store'];
    process.kill(eventStore, 'SIGSTOP');
    await until(
      async () => {
        // The API says so when callers ask.
        await customer.create(person());
        return said('api', GONE) && said('worker', GONE);
      },
      () => 'API and worker miss the event store',
    );
    process.kill(eventStore, 'SIGKILL');
    await until(
      async () => {
        await customer.create(person());
        return said('api', BACK) && said('worker', BACK);
      },
      () => 'API and worker have the event store back',
    );
    const next = await accepted();
    expect((await customer.untilEnded(next.readingId)).status).toBe('completed');
    for (const name of ['api', 'worker'] as const)
      expect(complaints(name, from[name])).toEqual([GONE, expect.stringContaining(BACK)]);
  });
});

describe('while the database does not answer', () => {
  it('refuses every request with 503 in bounded time, and the same processes recover', async () => {
    const body = await accepted();
    await customer.untilEnded(body.readingId);
    const { api, worker, postgres } = stack.pids();
    const frozen = descendants(postgres);
    expect(frozen.length).toBeGreaterThan(3);
    for (const pid of frozen) signal(pid, 'SIGSTOP');
    try {
      const [post, get] = await Promise.all([
        customer.create(person()),
        customer.call('GET', `/api/v1/readings/${body.readingId}`),
      ]);
      expect([post.status, post.body['code']]).toEqual([503, 'enqueue_unavailable']);
      expect([get.status, get.body['code'], get.headers.get('retry-after')]).toEqual([
        503,
        'service_unavailable',
        '5',
      ]);
    } finally {
      for (const pid of frozen) signal(pid, 'SIGCONT');
    }
    await until(ready, () => 'readiness comes back');
    const next = await accepted();
    expect((await customer.untilEnded(next.readingId)).status).toBe('completed');
    expect(stack.pids()).toMatchObject({ api, worker, postgres });
  });
});

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
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(/\s+/)
    .filter(Boolean);
  return [pid, ...children.flatMap((child) => descendants(Number(child)))];
};

describe('when a process is killed', () => {
  it.each(['event-store', 'postgres', 'worker', 'api'] as const)(
    '%s restarts by itself, and a reading accepted before completes',
    async (name) => {
      const body = await accepted();
      process.kill(stack.pids()[name], 'SIGKILL');
      await until(ready, () => `readiness after ${name} was killed`);
      expect((await customer.untilEnded(body.readingId)).status).toBe('completed');
      const next = await accepted();
      expect((await customer.untilEnded(next.readingId)).status).toBe('completed');
    },
  );

  it('a test reading that asked to wait waits as long, and completes once', async () => {
    const tester = await customer.inTestMode();
    const body = await accepted({ ...person(), metadata: { test_outcome: 'slow:4' } }, tester);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    process.kill(stack.pids().worker, 'SIGKILL');
    const ended = await tester.untilEnded(body.readingId);
    expect(ended).toMatchObject({ status: 'completed', livemode: false });
    const waitedMs = Date.parse(String(ended['completedAt'])) - Date.parse(String(body['createdAt']));
    expect(waitedMs).toBeGreaterThan(3_900);
    const path = `/api/v1/readings/${body.readingId}/events`;
    const { data } = (await tester.call<{ data: { type: string }[] }>('GET', path)).body;
    const made = data.map(({ type }) => type).filter((type) => ['started', 'completed'].includes(type));
    expect(made).toEqual(['started', 'completed']);
    await until(
      async () => (await tester.balance()).consumed === 20,
      () => 'one capture in the test book',
    );
  });
});

describe('when the event store is killed under load', () => {
  it('API and worker survive with calls in flight, and every accepted reading completes', async () => {
    const { api, worker } = stack.pids();
    // A call beyond the credits asks the store, too, and leaves nothing to calculate.
    const busy = await Integrator.open(stack, 400);
    const accepted: string[] = [];
    let loading = true;
    const callers = Array.from({ length: 8 }, async () => {
      while (loading) {
        const answer = await busy.create(person());
        if (answer.status === 202) accepted.push(answer.body.readingId);
        else expect([503, 402]).toContain(answer.status);
      }
    });
    for (let kill = 0; kill < 3; kill += 1) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      const killed = stack.pids()['event-store'];
      process.kill(killed, 'SIGKILL');
      // Readiness is checked once a second, so it may still be the earlier answer.
      await until(
        async () => stack.pids()['event-store'] !== killed && (await ready()),
        () => 'readiness after the event store was killed',
      );
    }
    loading = false;
    await Promise.all(callers);
    expect(stack.pids()).toMatchObject({ api, worker });
    expect(accepted.length).toBeGreaterThan(0);
    for (const readingId of accepted.slice(-3)) {
      expect((await busy.untilEnded(readingId)).status).toBe('completed');
    }
  });
});
