import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Integrator, person, until } from '../support/integrator.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  startStack,
  type Receiver,
  type StartedStack,
} from '../support/index.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';

const KILLS = rounds(6, 100);
const SEED = seedOr(20261123);
/** Readings of each batch: enough that a kill usually comes between two of them. */
const READINGS = 6;
/** Every so many times all of them at once: the stack gives up a process that ends five times within a minute. */
const ALL_EVERY = 5;
const VICTIMS = ['api', 'event-store', 'postgres', 'worker'] as const;
const IMPATIENT = {
  ...RECEIVER_SETTINGS,
  READING_LEASE_MS: '3000',
  RESERVATION_FENCE_MS: '4000',
  RESERVATION_SWEEP_MS: '1000',
  WEBHOOK_NOTICES_EVERY_MS: '500',
};

interface Answer {
  readonly batchId: string;
  readonly accepted: number;
  readonly items: readonly { readonly readingId?: string }[];
}

const random = new Random(SEED);
const dataDir = temporaryDataDir();
let stack: StartedStack;
let customer: Integrator;
let receiver: Receiver;
let endpointId: string;

beforeAll(async () => {
  stack = await startStack({ env: IMPATIENT, dataDir });
  customer = await Integrator.open(stack, 1_000_000);
  receiver = await startReceiver();
  const body = {
    url: receiver.url,
    events: ['reading.delayed'],
    notices: ['batch.ended', 'replay.finished'],
  };
  const created = await customer.call<{ signingSecret: string; endpointId: string }>(
    'POST',
    '/api/v1/webhooks',
    { body },
  );
  receiver.secret = created.body.signingSecret;
  ({ endpointId } = created.body);
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
  removeDataFolder(dataDir);
});

/** The same batch again and again, until it is answered. */
const request = async (key: string): Promise<Answer> => {
  const readings = Array.from({ length: READINGS }, (_, index) => ({
    ...person(),
    externalId: `${key}-${index}`,
  }));
  for (;;) {
    const headers = { 'idempotency-key': key };
    const body = { mode: 'all', readings };
    const answer = await customer
      .call<Answer>('POST', '/api/v1/readings/bulk', { body, headers })
      .catch(() => null);
    if (answer?.status === 202) return answer.body;
    if (answer) expect(answer.status).toBe(503);
    await delay(50);
  }
};

/** A replay, again and again, until it is answered. @returns its id; `null` while another one runs */
const requestReplay = async (key: string): Promise<string | null> => {
  for (;;) {
    const answer = await customer
      .call<{ replayId: string }>('POST', `/api/v1/webhooks/${endpointId}/replay`, {
        body: { since: '2026-01-01T00:00:00Z' },
        headers: { 'idempotency-key': key },
      })
      .catch(() => null);
    if (answer?.status === 202) return answer.body.replayId;
    if (answer?.status === 409) return null;
    await delay(50);
  }
};

/** Which notices of this type arrived, by what they name. A notice may arrive twice, under one id. */
const notices = (type: string, name: 'batchId' | 'replayId'): ReadonlyMap<string, ReadonlySet<string>> => {
  const ids = new Map<string, Set<string>>();
  for (const { rawBody, headers, verified } of receiver.received) {
    // A slow machine is late with some readings, and the service says so.
    expect([headers['x-service-event'] ?? 'reading.delayed', verified]).toEqual(['reading.delayed', true]);
    if (headers['x-service-notice'] !== type) continue;
    const body = JSON.parse(rawBody.toString('utf8')) as {
      id: string;
      batchId: string;
      replayId: string;
      data: { counts?: object; state?: string };
    };
    if (type === 'batch.ended')
      expect(body.data.counts).toMatchObject({ items: READINGS, published: READINGS });
    else expect(body.data.state).toBe('finished');
    ids.set(body[name], (ids.get(body[name]) ?? new Set()).add(body.id));
  }
  return ids;
};

const count = async (text: string): Promise<number> => {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ n: number }>(text)).rows[0]!.n;
  } finally {
    await client.end();
  }
};

describe(`kill -9 during bulk requests, ${KILLS} times (${again('bulk-kill', KILLS, SEED)})`, () => {
  it('accepts each batch whole and once, charges each reading once, and tells once that a batch ended', async () => {
    const answers: Answer[] = [];
    const replays = new Set<string>();
    for (let killed = 0; killed < KILLS; killed += 1) {
      const victim = VICTIMS[killed % VICTIMS.length]!;
      const requested = request(`bulk-${killed}`);
      const replayed = requestReplay(`replay-${killed}`);
      await delay(random.next() * 150);
      if (killed > 0 && killed % ALL_EVERY === 0) {
        await stack.killAll();
        stack = await startStack({ env: IMPATIENT, dataDir });
        customer = customer.at(stack);
      } else {
        const pid = stack.pids()[victim];
        process.kill(pid, 'SIGKILL');
        // No answer shows that a worker runs again, and the next kill of it needs its new process id.
        await until(
          () => ![undefined, pid].includes(stack.pids()[victim]),
          () => `${victim} has restarted`,
        );
      }
      answers.push(await requested);
      const replayId = await replayed;
      if (replayId !== null) replays.add(replayId);
    }
    const ids = answers.flatMap(({ items }) => items.map(({ readingId }) => readingId!));
    expect(new Set(ids).size).toBe(KILLS * READINGS);
    await until(
      async () =>
        (await count(`select count(*)::int as n from readings.reading where status = 'completed'`)) ===
        ids.length,
      () => 'every reading completes',
      600_000,
    );
    await until(
      async () => (await customer.balance()).held === 0,
      () => 'every hold is settled',
    );
    expect(await count('select count(*)::int as n from readings.reading')).toBe(ids.length);
    expect(await customer.balance()).toMatchObject({
      consumed: 20 * ids.length,
      available: 1_000_000 - 20 * ids.length,
    });
    for (const { batchId } of answers) {
      const batch = await customer.call('GET', `/api/v1/batches/${batchId}`);
      expect(batch.body).toMatchObject({ accepted: READINGS, states: { completed: READINGS } });
    }
    await until(
      () => notices('batch.ended', 'batchId').size === KILLS,
      () => `${receiver.received.length} notices arrive`,
    );
    expect([...notices('batch.ended', 'batchId').values()].every((ids) => ids.size === 1)).toBe(true);
    const finished = () => notices('replay.finished', 'replayId');
    await until(
      () => [...replays].every((replayId) => finished().has(replayId)),
      () => `${finished().size} of ${replays.size} replays are reported`,
      120_000,
    );
    expect(replays.size).toBeGreaterThan(0);
    expect([...finished().values()].every((ids) => ids.size === 1)).toBe(true);
    expect(
      await count(`select count(*)::int as n from webhooks.public_event where type = 'batch.ended'`),
    ).toBe(KILLS);
    expect(await stack.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true });
    expect(await stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ ok: true });
  }, 1_200_000);
});
