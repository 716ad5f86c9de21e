import { expect } from '@jest/globals';
import pg from 'pg';
import { until, type Integrator } from '../../support/integrator.js';
import type { Receiver, Stack } from '../../support/index.js';

/** What a run of faults leaves behind: a service without faults, and what its one live customer asked for. */
export interface Aftermath {
  readonly stack: Pick<Stack, 'databaseUrl' | 'ops'>;
  readonly customer: Integrator;
  /** Takes all events of the customer. */
  readonly receiver: Receiver;
  /** The accepted readings, one for each Idempotency-Key. */
  readonly accepted: ReadonlySet<string>;
  /** What the customer had at first (credits). */
  readonly credits: number;
}

const CREDITS_OF_A_READING = 20;
const READINGS_END_WITHIN_MS = 600_000;
const WEBHOOKS_COME_WITHIN_MS = 300_000;
const ALL_EVENTS = ['reading.completed', 'reading.published'];

/** Waits until every accepted reading is published, every hold is settled, and every webhook has arrived. */
export const everythingEnds = async ({ stack, customer, receiver, accepted }: Aftermath): Promise<void> => {
  let unfinished = '';
  await until(
    async () => {
      const [row] = await rows<{ left: number; known: number }>(
        stack,
        `select count(*)::int as known, count(*) filter (
           where status in ('queued', 'processing') or (status = 'completed' and published_at is null))::int as left
         from readings.reading where livemode`,
      );
      unfinished = `${row!.left} of ${row!.known} readings are unfinished, ${accepted.size} were accepted`;
      return row!.left === 0 && row!.known >= accepted.size;
    },
    () => unfinished,
    READINGS_END_WITHIN_MS,
  );
  await until(
    async () => (await customer.balance()).held === 0,
    () => 'every hold is settled or released',
  );
  const incomplete = (): string[] => {
    const arrivals = firstArrivals(receiver);
    return [...accepted].filter((id) => arrivals.get(id)?.length !== ALL_EVENTS.length);
  };
  await until(
    () => incomplete().length === 0,
    () => `the readings ${incomplete().join()} lack webhooks`,
    WEBHOOKS_COME_WITHIN_MS,
  );
};

/**
 * Fails unless there is one reading for each request, however often it was retried, each is charged once and announced
 * in order, and {@link nothingWrong}.
 * @param isRebuilt whether the stores are looked at, too, which takes seconds
 */
export const nothingIsLost = async (aftermath: Aftermath, isRebuilt = true): Promise<void> => {
  const { stack, customer, receiver, accepted, credits } = aftermath;
  await everythingEnds(aftermath);
  const readings = await rows<{ reading_id: string; status: string }>(
    stack,
    'select reading_id, status from readings.reading where livemode',
  );
  expect(new Set(readings.map(({ reading_id: id }) => id))).toEqual(accepted);
  expect(readings.filter(({ status }) => status !== 'completed')).toEqual([]);
  const consumed = CREDITS_OF_A_READING * accepted.size;
  expect(await customer.balance()).toMatchObject({ consumed, available: credits - consumed });

  const arrivals = firstArrivals(receiver);
  expect(arrivals.size).toBe(accepted.size);
  expect([...arrivals].filter(([, types]) => types.join() !== ALL_EVENTS.join())).toEqual([]);
  expect(receiver.received.filter(({ verified }) => !verified)).toEqual([]);

  if (isRebuilt) await nothingWrong(stack);
};

/** Fails unless the ledger verifies, nothing is parked, and every read model equals its replay. */
export const nothingWrong = async (stack: Pick<Stack, 'ops'>): Promise<void> => {
  expect(await stack.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true });
  expect(await stack.ops(['parked', 'list'])).toMatchObject({ stopped: [] });
  const { replayed } = (await stack.ops(['projections', 'replay', '--all'])) as {
    replayed: { projection: string; differences: number }[];
  };
  expect(replayed.filter(({ differences }) => differences > 0)).toEqual([]);
};

/** The event types of each reading, in the order of their first arrival. Trials and delays do not count. */
const firstArrivals = ({ received }: Receiver): Map<string, string[]> => {
  const seen = new Set<string>();
  const byReading = new Map<string, string[]>();
  for (const { event } of received) {
    if (seen.has(event.id) || event.sequence === 0 || event.type === 'reading.delayed') continue;
    seen.add(event.id);
    byReading.set(event.readingId, [...(byReading.get(event.readingId) ?? []), event.type]);
  }
  return byReading;
};

export const rows = async <T extends pg.QueryResultRow>(
  { databaseUrl }: Pick<Stack, 'databaseUrl'>,
  text: string,
): Promise<T[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
};
