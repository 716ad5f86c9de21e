import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestApi } from '../../../test/api.js';
import { reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { Receiver, ok, status, eventuallyBy, type SetClock } from '../../../test/receiver.js';
import { TestService } from '../../../test/service.js';
import { replayTask } from '../../application/replay.js';
import { ALL_DELIVERIES } from '../../read-models/delivery-sql.js';
import { skipNext } from '../skip-pending.js';

const WS = 'ws_1';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pause before each attempt after the first, as documented. */
const PAUSES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

let database: TestDatabase;
let api: TestApi;
let sending: TestService;
let receiver: Receiver;
const clock: SetClock = { at: Date.now(), now: () => clock.at };

beforeAll(async () => {
  database = await startDatabase();
  receiver = await Receiver.start(status(500));
  api = await TestApi.start(database, { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_ALLOW_HTTP: '1' });
  const asByDefault = '0,5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000';
  const settings = { WEBHOOK_RETRY_SCHEDULE_MS: asByDefault };
  sending = new TestService(database, { clock, store: api.store, settings });
  sending.dispatch();
});
afterAll(async () => {
  await sending.stop();
  await api.stop();
  await receiver.stop();
  await database.stop();
});

const attempts = async (readingId: string): Promise<number> =>
  receiver.received.filter(({ body }) => body.includes(readingId)).length;
const delivery = async (readingId: string) => {
  const { rows } = await database.pool.query<{
    status: string;
    attempts: number;
    due_at: Date;
    ended_at: Date;
  }>(
    `select delivery.status, delivery.attempts, delivery.due_at,
            (select max(started_at + duration_ms * interval '1 millisecond') from webhooks.attempt
             where attempt.delivery_id = delivery.delivery_id) as ended_at
     from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id)
     where event.reading_id = $1 order by delivery.created_at desc limit 1`,
    [readingId],
  );
  return rows[0]!;
};

describe('An endpoint that fails for days', () => {
  it('gets the whole retry schedule, then probes, is disabled at 120 hours, and can replay everything once enabled', async () => {
    const { endpointId } = await api.createEndpoint(WS, { url: receiver.url });
    const health = async () =>
      (await api.request('get', `/webhooks/${endpointId}/health`, WS)).body as Record<string, unknown>;
    const began = clock.at;
    const first = randomUUID();
    await api.happen(WS, reading(first).completed({ at: clock.at }));
    for (const [index, pause] of PAUSES.entries()) {
      await eventuallyBy(clock, async () => (await delivery(first)).attempts === index + 1);
      const { due_at: dueAt, ended_at: endedAt } = await delivery(first);
      const due = dueAt.getTime();
      expect(due - endedAt.getTime()).toBeGreaterThanOrEqual(0.8 * pause);
      expect(due - endedAt.getTime()).toBeLessThanOrEqual(1.2 * pause);
      clock.at = due - 1;
      await sending.idle();
      expect(await attempts(first)).toBe(index + 1);
      clock.at = due;
    }
    await eventuallyBy(clock, async () => (await delivery(first)).status === 'exhausted');
    expect(await attempts(first)).toBe(10);
    expect(await health()).toMatchObject({ state: 'failing', consecutiveFailures: 10 });

    const second = randomUUID();
    await api.happen(WS, reading(second).completed({ at: clock.at }));
    await sending.idle();
    expect(await attempts(second)).toBe(0);
    clock.at += 5 * MINUTE;
    await eventuallyBy(clock, async () => (await delivery(second)).attempts === 1);
    expect(await attempts(second)).toBe(1);
    expect(await health()).toMatchObject({ state: 'failing' });

    clock.at = Date.parse(String((await health())['failingSince'])) + 120 * HOUR;
    await eventuallyBy(clock, async () => (await health())['state'] === 'disabled');
    expect(await health()).toMatchObject({ disabledReason: 'failing' });
    const third = randomUUID();
    await api.happen(WS, reading(third).completed({ at: clock.at }));
    expect((await delivery(third)).status).toBe('skipped');

    receiver.answer = ok;
    receiver.received.length = 0;
    const enabled = await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: true }).expect(200);
    expect(enabled.body).toMatchObject({ enabled: true, health: { state: 'ok', consecutiveFailures: 0 } });
    clock.at += HOUR;
    await sending.idle();
    expect(receiver.received).toHaveLength(0);
    await skipNext(database.pool);

    const since = new Date(began).toISOString();
    const until = new Date(clock.at).toISOString();
    const { body } = await api
      .request('post', `/webhooks/${endpointId}/replay`, WS, { since, until })
      .expect(202);
    const { replayId } = body as { replayId: string };
    await replayTask(database.pool, clock).handle({ replayId }, new AbortController().signal);
    clock.at += SECOND;
    await eventuallyBy(clock, () => receiver.received.length === 3);
    const sentReadings = receiver.received.map(
      ({ body: sent }) => (JSON.parse(sent.toString()) as { readingId: string }).readingId,
    );
    expect(new Set(sentReadings)).toEqual(new Set([first, second, third]));
    expect(await health()).toMatchObject({ state: 'ok' });
  });
});
