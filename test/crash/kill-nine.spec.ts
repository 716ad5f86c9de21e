import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Integrator, person, until } from '../support/integrator.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';

const ROUNDS = 10;
const CALLERS = 4;
const SEED = Number(process.env['CRASH_SEED'] ?? 20261120);
/** Short leases, so that what a killed process held is retaken soon. */
const IMPATIENT = {
  ...RECEIVER_SETTINGS,
  READING_LEASE_MS: '3000',
  WEBHOOK_LEASE_MS: '3000',
  WEBHOOK_RETRY_SCHEDULE_MS: '0,500,1000,2000,4000,8000,16000',
  RESERVATION_FENCE_MS: '4000',
  RESERVATION_SWEEP_MS: '1000',
};

/** Small, fast and good enough to choose moments (mulberry32); the seed makes a failure repeatable. */
const random = ((state: number) => () => {
  state = (state + 0x6d2b79f5) | 0;
  let bits = Math.imul(state ^ (state >>> 15), 1 | state);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
})(SEED);

const dataDir = temporaryDataDir();
const accepted = new Set<string>();
let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  stack = await startStack({ env: IMPATIENT, dataDir });
  customer = await Integrator.open(stack, 1_000_000);
  receiver = await startReceiver();
  const endpoint = await customer.call<{ signingSecret: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url },
  });
  receiver.secret = endpoint.body.signingSecret;
}, 120_000);

afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
  removeDataFolder(dataDir);
});

/** Posts without pause until told to stop; a lost answer is asked for again later under the same key. */
const load = (signal: AbortSignal): Promise<void[]> =>
  Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!signal.aborted) {
        const answer = await customer
          .create(person(), { 'idempotency-key': `crash-${random()}` })
          .catch(() => null);
        if (answer?.status === 202) accepted.add(answer.body.readingId);
        else await delay(20);
      }
    }),
  );

const rows = async <T extends pg.QueryResultRow>(text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
};

describe(`kill -9 of every process at once, ${ROUNDS} times under load (CRASH_SEED=${SEED})`, () => {
  it('loses nothing: every accepted reading ends, every credit is accounted for, every event is delivered in order', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const stop = new AbortController();
      const loading = load(stop.signal);
      await delay(300 + random() * 1_500);
      await stack.killAll();
      stop.abort();
      await loading;
      stack = await startStack({ env: IMPATIENT, dataDir });
      customer = customer.at(stack);
    }
    expect(accepted.size).toBeGreaterThan(ROUNDS);

    const unfinished = () =>
      rows<{ left: number }>(
        `select count(*)::int as left from readings.reading
         where status in ('queued', 'processing') or (status = 'completed' and published_at is null)`,
      );
    await until(
      async () => (await unfinished())[0]!.left === 0,
      240_000,
      () => 'every reading ends',
    );
    await until(
      async () => (await customer.balance()).held === 0,
      60_000,
      () => 'every hold is settled or released',
    );

    const readings = await rows<{ reading_id: string; status: string }>(
      'select reading_id, status from readings.reading',
    );
    const ended = new Map(readings.map(({ reading_id: id, status }) => [id, status]));
    expect([...accepted].filter((id) => ended.get(id) !== 'completed')).toEqual([]);
    const completed = readings.filter(({ status }) => status === 'completed').length;
    const balance = await customer.balance();
    expect(balance.consumed).toBe(20 * completed);
    expect(balance.available).toBe(1_000_000 - 20 * completed);

    const firstArrivals = (): Map<string, string[]> => {
      const seen = new Set<string>();
      const byReading = new Map<string, string[]>();
      for (const { event } of receiver.received) {
        if (seen.has(event.id)) continue;
        seen.add(event.id);
        byReading.set(event.readingId, [...(byReading.get(event.readingId) ?? []), event.type]);
      }
      return byReading;
    };
    const incomplete = () =>
      [...ended.keys()].filter(
        (id) =>
          (firstArrivals()
            .get(id)
            ?.filter((type) => type !== 'reading.delayed').length ?? 0) < 2,
      );
    await until(
      () => incomplete().length === 0,
      120_000,
      () => `${incomplete().length} readings lack webhooks`,
    );
    const outOfOrder = [...firstArrivals()].filter(
      ([, types]) =>
        types.filter((type) => type !== 'reading.delayed').join() !== 'reading.completed,reading.published',
    );
    expect(outOfOrder).toEqual([]);
    expect(receiver.received.every(({ verified }) => verified)).toBe(true);
  }, 900_000);
});
