import { ALL_DELIVERIES } from '#webhooks/read-models/delivery-sql.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Integrator, person, until } from '../support/integrator.js';
import { RECEIVER_SETTINGS, startReceiver, type Receiver } from '../support/index.js';
import { startStores, type StartedProcess, type StartedStores } from '../support/start-processes.js';

/** The settings of `npm start`, so that no limit interferes, with leases that expire during the test. */
const SETTINGS = {
  ...RECEIVER_SETTINGS,
  LOG_LEVEL: 'error',
  RATE_CREATE_PER_MINUTE: '1000000',
  RATE_READ_PER_MINUTE: '1000000',
};
/** Three workers with different roles: each role runs twice, and none leads. */
const ROLES = ['follow,jobs', 'jobs,webhooks,upkeep', 'follow,webhooks,upkeep'];
/** Enough that every restart interrupts work, and no more than a slow machine can typeset. */
const CALLERS = 2;
const BETWEEN_READINGS_MS = 400;
const CREDITS = 1_000_000;
/** Readings of a customer that fill the queue: the workers need many seconds for them. */
const BULK = 60;

let stores: StartedStores;
let receiver: Receiver;
let customer: Integrator;
let endpointId: string;
const apis: StartedProcess[] = [];
const workers: StartedProcess[] = [];

beforeAll(async () => {
  stores = await startStores(SETTINGS);
  receiver = await startReceiver();
  apis.push(...(await Promise.all([stores.start('api'), stores.start('api')])));
  workers.push(...(await Promise.all(ROLES.map((roles) => stores.start('worker', { WORKER_ROLES: roles })))));
  const { eventStoreUrl, dataDir, ops } = stores;
  const surroundings = { baseUrl: apis[0]!.baseUrl, eventStoreUrl, dataDir, ops } as never;
  customer = await Integrator.open(surroundings, CREDITS);
  const endpoint = await customer.call<{ endpointId: string; signingSecret: string }>(
    'POST',
    '/api/v1/webhooks',
    {
      body: { url: receiver.url },
    },
  );
  receiver.secret = endpoint.body.signingSecret;
  endpointId = endpoint.body.endpointId;
});

afterAll(async () => {
  await Promise.allSettled([...apis, ...workers].map((one) => one.stop()));
  await receiver?.stop();
  await stores?.stop();
});

const accepted = new Set<string>();

/** Customers who call any available API, and retry with the same key until they have an answer. */
const load = (signal: AbortSignal): Promise<unknown> =>
  Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let made = 0; !signal.aborted; made += 1) await buy(`${caller}-${made}`);
    }),
  );

const buy = async (key: string): Promise<void> => {
  for (let attempt = 0; ; attempt += 1) {
    const { baseUrl } = apis[attempt % apis.length]!;
    const asked = await fetch(`${baseUrl}/api/v1/readings`, {
      method: 'POST',
      headers: { 'x-api-key': customer.apiKey, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(person()),
    }).catch(() => null);
    if (asked?.status === 202) {
      accepted.add(((await asked.json()) as { readingId: string }).readingId);
      return delay(BETWEEN_READINGS_MS);
    }
    if (attempt > 100) throw new Error(`No API accepts: ${asked?.status}`);
    await delay(50);
  }
};

const query = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: stores.databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
};

describe('two APIs and three workers on one event store and one database', () => {
  it('lose nothing while each process is restarted under load', async () => {
    const ending = new AbortController();
    const loading = load(ending.signal);
    const exitCodes: (number | null)[] = [];
    const restart = async (
      processes: StartedProcess[],
      index: number,
      start: () => Promise<StartedProcess>,
    ): Promise<void> => {
      await delay(500);
      exitCodes.push(await processes[index]!.stop());
      processes[index] = await start();
    };
    for (const index of apis.keys()) await restart(apis, index, () => stores.start('api'));
    for (const [index, roles] of ROLES.entries())
      await restart(workers, index, () => stores.start('worker', { WORKER_ROLES: roles }));
    ending.abort();
    await loading;

    // A process that does not stop in time exits with 1.
    expect(exitCodes).toEqual([0, 0, 0, 0, 0]);
    expect(accepted.size).toBeGreaterThan(20);

    await until(
      async () => {
        const [row] = await query<{ left: number }>(
          `select count(*)::int as left from readings.reading
           where status in ('queued', 'processing') or (status = 'completed' and published_at is null)`,
        );
        return row!.left === 0;
      },
      () => 'every reading ends',
      150_000,
    );
    const readings = await query<{ reading_id: string; status: string }>(
      'select reading_id, status from readings.reading',
    );
    const ended = new Map(readings.map(({ reading_id: id, status }) => [id, status]));
    expect([...accepted].filter((id) => ended.get(id) !== 'completed')).toEqual([]);
    expect(readings).toHaveLength(accepted.size);

    const balance = async () =>
      (await stores.ops(['ledger', 'balance', '--workspace', customer.workspaceId])) as {
        held: number;
        consumed: number;
        available: number;
      };
    await until(
      async () => (await balance()).held === 0,
      () => 'every hold is settled',
    );
    expect(await balance()).toMatchObject({
      consumed: 20 * accepted.size,
      available: CREDITS - 20 * accepted.size,
    });

    const told = () => new Set(receiver.received.map(({ event }) => event.id)).size;
    await until(
      () => told() >= 2 * accepted.size,
      () => `${told()} of ${2 * accepted.size} events arrive`,
    );
    expect(told()).toBe(2 * accepted.size);
    expect(receiver.received.every(({ verified }) => verified)).toBe(true);
    const [deliveries] = await query<{ made: number; settled: number }>(
      `select count(*)::int as made, count(*) filter (where status = 'succeeded')::int as settled
       from ${ALL_DELIVERIES} where endpoint_id = '${endpointId}'`,
    );
    expect(deliveries?.made).toBe(2 * accepted.size);
  }, 400_000);

  it('publish three readings of a customer beside a bulk of another, long before the bulk is done', async () => {
    // The APIs have other ports since their restart.
    const here = (one: Integrator) => one.at(one.stack, apis[0]!.baseUrl);
    const neighbour = here(await Integrator.open(customer.stack, 1_000));
    const bulk = await here(customer).call<{ accepted: number; batchId: string }>(
      'POST',
      '/api/v1/readings/bulk',
      {
        body: { mode: 'all', readings: Array.from({ length: BULK }, () => person()) },
      },
    );
    expect(bulk.body.accepted).toBe(BULK);
    const published = async (workspaceId: string, from: string): Promise<number> => {
      const [row] = await query<{ published: number }>(
        `select count(*)::int as published from readings.reading
         where workspace_id = '${workspaceId}' and published_at is not null and created_at >= '${from}'`,
      );
      return row!.published;
    };
    const from = new Date().toISOString();
    for (let made = 0; made < 3; made += 1) expect((await neighbour.create(person())).status).toBe(202);
    await until(
      async () => (await published(neighbour.workspaceId, from)) === 3,
      () => 'the three readings are published',
      150_000,
    );
    expect(await published(customer.workspaceId, '-infinity')).toBeLessThan(accepted.size + BULK / 2);
  });

  it('have no leader: every role runs in two of the workers', () => {
    for (const role of ['follow', 'jobs', 'webhooks', 'upkeep'])
      expect(ROLES.filter((roles) => roles.split(',').includes(role))).toHaveLength(2);
  });
});
