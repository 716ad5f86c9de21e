import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { transaction } from '@app/platform/postgres/pool.js';
import { TestApi } from '../../../test/api.js';
import { failure, reading } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { Receiver, eventually, ok, status } from '../../../test/receiver.js';
import { TestService, wipe } from '../../../test/service.js';
import type { ReplayRecord } from '../../contracts/replay.js';
import { replayTask, rescueAbandoned } from './replay.job.js';

const WS = 'ws_1';
const SINCE = '2026-04-01T00:00:00Z';
const DAY = (n: number): number => Date.parse(`2026-04-${String(n).padStart(2, '0')}T12:00:00Z`);

let database: TestDatabase;
let api: TestApi;
let sending: TestService;
let receiver: Receiver;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await wipe(database);
  receiver = await Receiver.start();
  api = await TestApi.start(database, {
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_ALLOW_HTTP: '1',
    WEBHOOK_ENDPOINT_CONCURRENCY: '1',
  });
  sending = new TestService(database, {
    settings: { WEBHOOK_ENDPOINT_CONCURRENCY: '1', WEBHOOK_RETRY_SCHEDULE_MS: '0' },
  });
  sending.dispatch();
});
afterEach(async () => {
  await sending.stop();
  await api.stop();
  await receiver.stop();
});

const never = new AbortController().signal;
const ask = (endpointId: string, body: object, headers: Record<string, string> = {}) =>
  api.request('post', `/webhooks/${endpointId}/replay`, WS, body).set(headers);
const find = async ({ endpointId, replayId }: ReplayRecord): Promise<ReplayRecord> =>
  (await api.request('get', `/webhooks/${endpointId}/replays/${replayId}`, WS).expect(200))
    .body as ReplayRecord;
/** Asks for a replay, carries out its job as the worker does, and waits until nothing of it is pending. */
const replay = async (endpointId: string, body: object): Promise<ReplayRecord> => {
  const asked = (await ask(endpointId, { since: SINCE, ...body }).expect(202)).body as ReplayRecord;
  await replayTask(database.pool, { now: () => Date.now() }).handle({ replayId: asked.replayId }, never);
  await eventually(async () => (await find(asked)).deliveries.pending === 0);
  return find(asked);
};
const endpoint = async (): Promise<string> =>
  (await api.createEndpoint(WS, { url: receiver.url })).endpointId;
const feed = async (): Promise<{ id: string }[]> =>
  ((await api.request('get', '/events?limit=100', WS)).body as { data: { id: string }[] }).data;
const settled = (): Promise<void> =>
  eventually(async () => (await sending.deliveries()).every(({ status: is }) => is !== 'pending'));
const arrivals = () =>
  receiver.received.map(({ body, headers }) => {
    const { id, readingId, sequence } = JSON.parse(body.toString('utf8')) as {
      id: string;
      readingId: string;
      sequence: number;
    };
    return { id, readingId, sequence, body: body.toString('utf8'), headers };
  });

/** Connections that take a while to commit; `meanwhile` begins before. */
const slowToCommit = (pool: pg.Pool, meanwhile: () => void): pg.Pool => {
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    const query = async (text: string, values?: unknown[]): Promise<unknown> => {
      if (text === 'commit') {
        meanwhile();
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return client.query(text, values);
    };
    return { query, release: (broken?: boolean) => client.release(broken) } as unknown as pg.PoolClient;
  };
  return { connect } as unknown as pg.Pool;
};

describe('A replay', () => {
  it('sends events from before the endpoint existed: the same ids and bytes, in the order of the log', async () => {
    const early = await endpoint();
    const [one, two] = [reading(randomUUID()), reading(randomUUID())];
    const [failed, release] = failure(randomUUID());
    await api.happen(WS, one.delayed(), failed, two.completed(), one.completed(), release, one.published());
    await settled();
    const pushed = new Map(arrivals().map(({ id, body }) => [id, body]));
    receiver.received.length = 0;
    const late = await endpoint();
    const done = await replay(late, {});
    expect(done).toMatchObject({
      endpointId: late,
      state: 'finished',
      events: 5,
      progress: 1,
      deliveries: { succeeded: 5, pending: 0 },
    });
    expect(arrivals().map(({ id }) => id)).toEqual((await feed()).map(({ id }) => id));
    for (const { id, body, headers } of arrivals()) {
      expect(body).toBe(pushed.get(id));
      expect(headers).toMatchObject({ 'x-service-event-id': id, 'x-service-redelivery': 'true' });
    }
    expect(await replay(early, {})).toMatchObject({ events: 0, state: 'finished' });
  });

  it('moves what follows a failed delivery to its retry: nothing is due that cannot be sent', async () => {
    const endpointId = await endpoint();
    const { delayed, completed, published } = reading(randomUUID());
    await api.happen(WS, delayed(), completed(), published());
    await settled();
    await sending.stop();
    sending = new TestService(database, { settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000' } });
    sending.dispatch();
    receiver.answer = status(500);
    receiver.received.length = 0;
    const asked = (await ask(endpointId, { since: SINCE, statuses: ['succeeded'] }).expect(202))
      .body as ReplayRecord;
    await replayTask(database.pool, { now: () => Date.now() }).handle({ replayId: asked.replayId }, never);
    const replayed = async () => {
      const { rows } = await database.pool.query<{ attempts: number; due_at: Date }>(
        'select attempts, due_at from webhooks.delivery where replay_id = $1 order by sequence',
        [asked.replayId],
      );
      return rows;
    };
    await eventually(async () => (await replayed())[0]!.attempts === 1);
    const rows = await replayed();
    expect(rows.map(({ attempts }) => attempts)).toEqual([1, 0, 0]);
    const [retry] = rows;
    expect(rows.map(({ due_at: dueAt }) => dueAt)).toEqual(Array<Date>(3).fill(retry!.due_at));
    expect(receiver.received.map(({ headers }) => headers['x-service-redelivery'])).toEqual(['true']);
  });

  it('steps back behind what is new, whatever was asked for first', async () => {
    const endpointId = await endpoint();
    const old = Array.from({ length: 12 }, () => randomUUID());
    for (const id of old) await api.happen(WS, reading(id).completed());
    await settled();
    receiver.received.length = 0;
    const held: (() => void)[] = [];
    receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
    const asked = (await ask(endpointId, { since: SINCE, statuses: ['succeeded'] }).expect(202))
      .body as ReplayRecord;
    await replayTask(database.pool, { now: () => Date.now() }).handle({ replayId: asked.replayId }, never);
    await eventually(() => held.length === 1);
    const fresh = Array.from({ length: 3 }, () => randomUUID());
    for (const id of fresh) await api.happen(WS, reading(id).completed());
    receiver.answer = ok;
    held[0]!();
    await settled();
    const order = arrivals().map(({ readingId }) => readingId);
    expect(order).toHaveLength(15);
    // One replayed delivery was in flight already.
    expect(order.slice(1, 4)).toEqual(fresh);
  });

  it('sends as many as its dry run counts, which sends none', async () => {
    const endpointId = await endpoint();
    receiver.answer = (response, received, index) =>
      (index % 3 === 0 ? status(500) : ok)(response, received, index);
    for (let n = 0; n < 12; n += 1) await api.happen(WS, reading(randomUUID()).completed());
    await settled();
    receiver.answer = ok;
    for (const statuses of [
      undefined,
      ['exhausted'],
      ['succeeded'],
      ['missing'],
      ['exhausted', 'succeeded'],
    ]) {
      const body = statuses ? { statuses } : {};
      receiver.received.length = 0;
      const counted = await replay(endpointId, { ...body, dryRun: true });
      expect(receiver.received).toHaveLength(0);
      const sent = await replay(endpointId, body);
      expect(sent.events).toBe(counted.events);
      expect(receiver.received).toHaveLength(counted.events);
    }
  });

  it('adds nothing to an endpoint that is disabled while a page is being added', async () => {
    await sending.stop();
    await api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    const endpointId = await endpoint();
    const asked = (await ask(endpointId, { since: SINCE }).expect(202)).body as ReplayRecord;
    let disabled: Promise<unknown> = Promise.resolve();
    const slow = slowToCommit(database.pool, () => {
      // Sent when somebody waits for it.
      disabled = api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false }).expect(200).then();
    });
    await replayTask(slow, { now: () => Date.now() }).handle({ replayId: asked.replayId }, never);
    await disabled;
    await eventually(async () => (await sending.deliveries()).every(({ status: is }) => is === 'skipped'));
    const { body } = await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: true }).expect(200);
    expect(body).toMatchObject({ enabled: true, skippedDeliveries: 1 });
    sending = new TestService(database);
    sending.dispatch();
    await sending.idle();
    expect(receiver.received).toEqual([]);
  });

  it('waits while deliveries of a disabled endpoint are still to be skipped, and then has them too', async () => {
    await sending.stop();
    const endpointId = await endpoint();
    await api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    await database.pool.query(`insert into webhooks.skipping values ($1, $2, now())`, [
      endpointId,
      Number.MAX_SAFE_INTEGER,
    ]);
    const asked = (await ask(endpointId, { since: SINCE, dryRun: true }).expect(202)).body as ReplayRecord;
    const work = () =>
      replayTask(database.pool, { now: () => Date.now() }).handle({ replayId: asked.replayId }, never);
    await work();
    expect(await find(asked)).toMatchObject({ state: 'queued', events: 0 });
    await sending.skip();
    // The rescue of replays that have not moved adds the job again.
    await work();
    expect(await find(asked)).toMatchObject({ state: 'finished', events: 1 });
  });

  it('chooses by time, type and what became of the events', async () => {
    const gone = reading(randomUUID());
    await api.happen(WS, gone.completed({ at: DAY(2) }), gone.published({ at: DAY(3) }));
    await api.happen('ws_else', reading(randomUUID()).completed({ at: DAY(3) }));
    const endpointId = await endpoint();
    await api.happen(WS, reading(randomUUID()).completed({ at: DAY(4) }));
    await settled();
    await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false }).expect(200);
    await api.happen(WS, ...failure(randomUUID(), DAY(5)));
    await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: true }).expect(200);
    const count = async (body: object) => (await replay(endpointId, { ...body, dryRun: true })).events;
    expect(await count({})).toBe(3);
    expect(await count({ statuses: ['missing'] })).toBe(2);
    expect(await count({ statuses: ['skipped'] })).toBe(1);
    expect(await count({ statuses: ['succeeded'] })).toBe(1);
    expect(await count({ types: ['reading.published', 'reading.failed'] })).toBe(2);
    expect(await count({ since: '2026-04-03T12:00:00Z' })).toBe(2);
    expect(await count({ until: '2026-04-03T12:00:00Z' })).toBe(1);
  });

  it('keeps the order of each reading, also when its events fail', async () => {
    const ids = Array.from({ length: 5 }, () => randomUUID());
    for (const id of ids)
      await api.happen(WS, reading(id).delayed(), reading(id).completed(), reading(id).published());
    const endpointId = await endpoint();
    receiver.answer = (response, received, index) =>
      (index % 2 === 0 ? status(500) : ok)(response, received, index);
    await sending.stop();
    sending = new TestService(database, {
      // Enough attempts that none is exhausted, whoever it is that meets every second request.
      settings: { WEBHOOK_RETRY_SCHEDULE_MS: ['0', ...Array<string>(19).fill('10')].join(',') },
    });
    sending.dispatch();
    expect(await replay(endpointId, {})).toMatchObject({ events: 15, deliveries: { succeeded: 15 } });
    for (const id of ids) {
      const sequences = arrivals().flatMap(({ readingId, sequence }) => (readingId === id ? [sequence] : []));
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    }
  });

  it('sends each event once, however often its job is done and by however many', async () => {
    for (let n = 0; n < 20; n += 1) await api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await endpoint();
    const asked = (await ask(endpointId, { since: SINCE }).expect(202)).body as ReplayRecord;
    const task = replayTask(database.pool, { now: () => Date.now() });
    const once = () => task.handle({ replayId: asked.replayId }, never);
    await Promise.all([once(), once(), once()]);
    await once();
    await settled();
    expect(arrivals()).toHaveLength(20);
    expect(await find(asked)).toMatchObject({ events: 20 });
  });

  it('is taken up again when its worker was killed', async () => {
    const endpointId = await endpoint();
    await ask(endpointId, { since: SINCE }).expect(202);
    const jobs = async () =>
      (
        await database.pool.query(
          `select from graphile_worker.jobs where task_identifier = 'webhooks.replay'`,
        )
      ).rowCount;
    await database.pool.query(
      'select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))',
    );
    await rescueAbandoned(database.pool, Date.now(), 86_400_000);
    expect(await jobs()).toBe(0);
    await rescueAbandoned(database.pool, Date.now() + 31_000, 86_400_000);
    expect(await jobs()).toBe(1);
  });

  it('stops when the endpoint is disabled, and does not begin while it is', async () => {
    await api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await endpoint();
    const asked = (await ask(endpointId, { since: SINCE }).expect(202)).body as ReplayRecord;
    await api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false }).expect(200);
    await replayTask(database.pool, { now: () => Date.now() }).handle({ replayId: asked.replayId }, never);
    expect(await find(asked)).toMatchObject({ state: 'stopped', events: 0 });
    const refused = await ask(endpointId, { since: SINCE }).expect(412);
    expect(refused.body).toMatchObject({ code: 'precondition_failed' });
    expect(await replay(endpointId, { dryRun: true })).toMatchObject({ events: 1 });
  });
});

describe('POST …/replay', () => {
  it('tells where to look, and adds its job in the same transaction', async () => {
    const endpointId = await endpoint();
    const { body, headers } = await ask(endpointId, { since: SINCE, types: ['reading.failed'] }).expect(202);
    const { replayId } = body as ReplayRecord;
    expect(headers['location']).toBe(`/api/v1/webhooks/${endpointId}/replays/${replayId}`);
    expect(body).toEqual({
      replayId,
      endpointId,
      since: '2026-04-01T00:00:00.000Z',
      until: expect.stringMatching(/Z$/),
      types: ['reading.failed'],
      statuses: ['missing', 'skipped', 'exhausted'],
      dryRun: false,
      state: 'queued',
      events: 0,
      progress: expect.any(Number),
      deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
      createdAt: expect.stringMatching(/Z$/),
      finishedAt: null,
    });
    const { rows } = await transaction(database.pool, (client) =>
      client.query<{ payload: object }>(
        'select payload from graphile_worker._private_jobs where payload ->> $1 = $2',
        ['replayId', replayId],
      ),
    );
    expect(rows).toHaveLength(1);
  });

  it('answers the same request under the same key as it did first, and another with 422', async () => {
    const endpointId = await endpoint();
    const key = { 'idempotency-key': 'again' };
    const first = await ask(endpointId, { since: SINCE }, key).expect(202);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    await replayTask(database.pool, { now: () => Date.now() }).handle(
      { replayId: (first.body as ReplayRecord).replayId },
      never,
    );
    const second = await ask(endpointId, { since: SINCE }, key).expect(202);
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect(second.body).toEqual(first.body);
    expect((await ask(endpointId, { since: SINCE, dryRun: true }, key).expect(422)).body).toMatchObject({
      code: 'idempotency_key_reused',
    });
    const besides = await Promise.all(
      [1, 2, 3].map(() => ask(endpointId, { since: SINCE }, { 'idempotency-key': 'x' })),
    );
    expect(new Set(besides.map(({ body }) => (body as ReplayRecord).replayId)).size).toBe(1);
  });

  it.each([
    [{}, [{ pointer: '/since', code: 'required' }]],
    [{ since: 'yesterday' }, [{ pointer: '/since', code: 'invalid_value' }]],
    [{ since: '2026-02-30' }, [{ pointer: '/since', code: 'invalid_value' }]],
    [{ since: SINCE, until: SINCE }, [{ pointer: '/until', code: 'invalid_value' }]],
    [{ since: SINCE, until: null }, [{ pointer: '/until', code: 'invalid_type' }]],
    [{ since: SINCE, types: ['ping'] }, [{ pointer: '/types/0', code: 'unsupported_event_type' }]],
    [{ since: SINCE, types: [] }, [{ pointer: '/types', code: 'too_short' }]],
    [{ since: SINCE, statuses: ['pending'] }, [{ pointer: '/statuses/0', code: 'invalid_value' }]],
    [{ since: SINCE, dryRun: 'yes' }, [{ pointer: '/dryRun', code: 'invalid_type' }]],
    [{ since: SINCE, endpointId: 'we_1' }, [{ pointer: '/endpointId', code: 'unknown_field' }]],
  ])('refuses %j', async (body, errors) => {
    const response = await ask(await endpoint(), body).expect(400);
    expect(response.body).toMatchObject({ errors });
  });

  it('finds no replay under another endpoint', async () => {
    const [mine, other] = [await endpoint(), await endpoint()];
    const { replayId } = (await ask(mine, { since: SINCE }).expect(202)).body as ReplayRecord;
    for (const path of [
      `${other}/replays/${replayId}`,
      `${mine}/replays/nonsense`,
      `${mine}/replays/${randomUUID()}`,
    ])
      expect((await api.request('get', `/webhooks/${path}`, WS).expect(404)).body).toMatchObject({
        code: 'not_found',
      });
  });
});
