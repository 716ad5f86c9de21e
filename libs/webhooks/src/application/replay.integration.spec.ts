import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { transaction } from '#platform/postgres/pool.js';
import { failure, reading } from '../../test/events.js';
import { eventually, ok } from '../../test/receiver.js';
import { DAY, NEVER, SINCE, WS, replaying } from '../../test/replaying.js';
import { TestService } from '../../test/service.js';
import type { ReplayRecord } from '../contracts/index.js';
import { rescueAbandoned } from './replay.js';
import { webhookRetentions } from '../processes/retention.js';
import { skipNext } from '../processes/skip-pending.js';

const HOUR = 3_600_000;
const test = replaying();

describe('A replay', () => {
  it('gives way to new events, whichever was requested first', async () => {
    const endpointId = await test.endpoint();
    const old = Array.from({ length: 12 }, () => randomUUID());
    for (const id of old) await test.api.happen(WS, reading(id).completed());
    await test.settled();
    test.receiver.received.length = 0;
    const held: (() => void)[] = [];
    test.receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
    const asked = await test.accepted(endpointId, { statuses: ['succeeded'] });
    await test.work(asked);
    await eventually(() => held.length === 1);
    const fresh = Array.from({ length: 3 }, () => randomUUID());
    for (const id of fresh) await test.api.happen(WS, reading(id).completed());
    test.receiver.answer = ok;
    held[0]!();
    await test.settled();
    const order = test.arrivals();
    expect(order).toHaveLength(15);
    // One replayed delivery was already in flight.
    expect(order.slice(1, 4)).toEqual(fresh);
  });

  it('chooses by time, type and outcome of the events', async () => {
    const gone = reading(randomUUID());
    await test.api.happen(WS, gone.completed({ at: DAY(2) }), gone.published({ at: DAY(3) }));
    await test.api.happen('ws_else', reading(randomUUID()).completed({ at: DAY(3) }));
    const endpointId = await test.endpoint();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(4) }));
    await test.settled();
    await test.enable(endpointId, false);
    await test.api.happen(WS, ...failure(randomUUID(), DAY(5)));
    await test.enable(endpointId, true);
    const count = async (body: object) => (await test.replay(endpointId, { ...body, dryRun: true })).events;
    expect(await count({})).toBe(3);
    expect(await count({ statuses: ['missing'] })).toBe(2);
    expect(await count({ statuses: ['skipped'] })).toBe(1);
    expect(await count({ statuses: ['succeeded'] })).toBe(1);
    expect(await count({ types: ['reading.published', 'reading.failed'] })).toBe(2);
    expect(await count({ since: '2026-04-03T12:00:00Z' })).toBe(2);
    expect(await count({ until: '2026-04-03T12:00:00Z' })).toBe(1);
  });
});

describe('POST …/replay', () => {
  it('returns its location, and adds its job in the same transaction', async () => {
    const endpointId = await test.endpoint();
    const { body, headers } = await test
      .ask(endpointId, { since: SINCE, types: ['reading.failed'] })
      .expect(202);
    const { replayId } = body as ReplayRecord;
    expect(headers['location']).toBe(`/api/v1/webhooks/${endpointId}/replays/${replayId}`);
    expect(body).toMatchObject({
      since: '2026-04-01T00:00:00.000Z',
      types: ['reading.failed'],
      statuses: ['missing', 'skipped', 'exhausted'],
      ...{ modes: ['live'], dryRun: false, state: 'queued', events: 0, finishedAt: null },
      deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
    });
    const { rows } = await transaction(test.database.pool, (client) =>
      client.query<{ payload: object }>(
        'select payload from graphile_worker._private_jobs where payload ->> $1 = $2',
        ['replayId', replayId],
      ),
    );
    expect(rows).toHaveLength(1);
  });

  it('repeats the first answer to the same request under the same key, and answers another with 422', async () => {
    const endpointId = await test.endpoint();
    const key = { 'idempotency-key': 'again' };
    const first = await test.ask(endpointId, { since: SINCE }, key).expect(202);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    await test.work(first.body as ReplayRecord);
    const second = await test.ask(endpointId, { since: SINCE }, key).expect(202);
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect(second.body).toEqual(first.body);
    expect((await test.ask(endpointId, { since: SINCE, dryRun: true }, key).expect(422)).body).toMatchObject({
      code: 'idempotency_key_reused',
    });
    const besides = await Promise.all(
      [1, 2, 3].map(() => test.ask(endpointId, { since: SINCE }, { 'idempotency-key': 'x' })),
    );
    expect(new Set(besides.map(({ body }) => (body as ReplayRecord).replayId)).size).toBe(1);
  });

  it('names what is wrong with a request', async () => {
    const endpointId = await test.endpoint();
    const errorsOf = async (body: object) =>
      ((await test.ask(endpointId, body).expect(400)).body as { errors: object[] }).errors;
    expect(await errorsOf({})).toMatchObject([{ pointer: '/since', code: 'required' }]);
    const wrong = { since: '2026-02-30', types: ['ping'], statuses: ['pending'] };
    expect(await errorsOf(wrong)).toMatchObject([
      { pointer: '/since', code: 'invalid_value' },
      { pointer: '/types/0', code: 'unsupported_event_type' },
      { pointer: '/statuses/0', code: 'invalid_value' },
    ]);
    expect(await errorsOf({ since: SINCE, until: SINCE, types: [] })).toMatchObject([
      { pointer: '/until', code: 'invalid_value' },
      { pointer: '/types', code: 'too_short' },
    ]);
  });
});

/** Connections that commit slowly; `meanwhile` starts before that, and a promise of it is awaited. */
const slowToCommit = (pool: pg.Pool, meanwhile: () => void | Promise<void>): pg.Pool => {
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    const query = async (text: string, values?: unknown[]): Promise<unknown> => {
      if (text === 'commit') {
        await meanwhile();
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return client.query(text, values);
    };
    return { query, release: (broken?: boolean) => client.release(broken) } as unknown as pg.PoolClient;
  };
  return { connect } as unknown as pg.Pool;
};

describe('The job of a replay', () => {
  it('adds nothing to an endpoint that is disabled while a page is being added', async () => {
    await test.sending.stop();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    const endpointId = await test.endpoint();
    const asked = await test.accepted(endpointId);
    let disabled: Promise<unknown> = Promise.resolve();
    const slow = slowToCommit(test.database.pool, () => {
      // Would be sent as soon as a worker reads the queue.
      disabled = test.enable(endpointId, false).then();
    });
    await test.work(asked, slow);
    await disabled;
    await eventually(async () => {
      await skipNext(test.database.pool);
      return (await test.sending.deliveries()).every(({ status: is }) => is === 'skipped');
    });
    const { body } = await test.enable(endpointId, true);
    expect(body).toMatchObject({ enabled: true, skippedDeliveries: 1 });
    test.sending = new TestService(test.database);
    test.sending.dispatch();
    await test.sending.idle();
    expect(test.receiver.received).toEqual([]);
  });

  it('adds no delivery of an event that retention deletes meanwhile: the event stays until the next round', async () => {
    await test.sending.stop();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    const endpointId = await test.endpoint();
    const asked = await test.accepted(endpointId);
    const { pool } = test.database;
    const terms = { WEBHOOK_DELIVERIES_KEPT_DAYS: 1, WEBHOOK_EVENTS_KEPT_DAYS: 1, TEST_DATA_KEPT_DAYS: 1 };
    const [, events] = webhookRetentions(pool, terms);
    let removed = -1;
    const slow = slowToCommit(pool, async () => {
      ({ removed } = await events!.forget(Date.now(), NEVER));
    });
    await test.work(asked, slow);
    expect(removed).toBe(0);
    const { rowCount } = await pool.query(
      'select from webhooks.delivery join webhooks.public_event using (event_id)',
    );
    expect(rowCount).toBe(1);
  });

  it('waits while deliveries of a disabled endpoint are still to be skipped, and then includes them', async () => {
    await test.sending.stop();
    const endpointId = await test.endpoint();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    await test.database.pool.query(`insert into webhooks.skipping values ($1, $2, '{live}', now())`, [
      endpointId,
      Number.MAX_SAFE_INTEGER,
    ]);
    const asked = await test.accepted(endpointId, { dryRun: true });
    await test.work(asked);
    expect(await test.find(asked)).toMatchObject({ state: 'queued', events: 0 });
    await test.sending.skip();
    // The rescue of stalled replays adds the job again.
    await test.work(asked);
    expect(await test.find(asked)).toMatchObject({ state: 'finished', events: 1 });
  });

  it('sends each event once, however often its job runs and in however many workers', async () => {
    for (let n = 0; n < 20; n += 1) await test.api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await test.endpoint();
    const asked = await test.accepted(endpointId);
    await Promise.all([1, 2, 3].map(() => test.work(asked)));
    await test.work(asked);
    await test.settled();
    expect(test.arrivals()).toHaveLength(20);
    expect(await test.find(asked)).toMatchObject({ events: 20 });
  });

  it('resumes when its worker was killed', async () => {
    const endpointId = await test.endpoint();
    const before = Date.now();
    await test.accepted(endpointId);
    const jobs = async () =>
      (
        await test.database.pool.query(
          `select from graphile_worker.jobs where task_identifier = 'webhooks.replay'`,
        )
      ).rowCount;
    await test.database.pool.query(
      'select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))',
    );
    await rescueAbandoned(test.database.pool, before);
    expect(await jobs()).toBe(0);
    await rescueAbandoned(test.database.pool, Date.now() + 31_000);
    expect(await jobs()).toBe(1);
  });

  it('stops when the endpoint leaves a mode of it: who changes the endpoint then may not see those events', async () => {
    await test.api.happen(WS, reading(randomUUID()).completed());
    const endpoint = { url: test.receiver.url, modes: ['live', 'test'] };
    const { endpointId } = await test.api.createEndpoint(WS, endpoint);
    const asked = await test.accepted(endpointId);
    await test.database.pool.query(`update webhooks.endpoint set modes = '{test}' where endpoint_id = $1`, [
      endpointId,
    ]);
    const { pool } = test.database;
    await test.work(asked);
    const { rows } = await pool.query('select state, events from webhooks.replay');
    expect(rows).toMatchObject([{ state: 'stopped', events: 0 }]);
    expect(await test.sending.deliveries()).toEqual([]);
  });

  it('stops when the endpoint is disabled, and does not start while it is', async () => {
    await test.api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await test.endpoint();
    const asked = await test.accepted(endpointId);
    await test.enable(endpointId, false);
    await test.work(asked);
    expect(await test.find(asked)).toMatchObject({ state: 'stopped', events: 0 });
    const refused = await test.ask(endpointId, { since: SINCE }).expect(412);
    expect(refused.body).toMatchObject({ code: 'precondition_failed' });
    expect(await test.replay(endpointId, { dryRun: true })).toMatchObject({ events: 1 });
  });
});

describe('A replay that does not end', () => {
  it('can be stopped, and another started', async () => {
    await test.api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await test.endpoint();
    const first = await test.accepted(endpointId);
    const path = `/webhooks/${endpointId}/replays/${first.replayId}`;
    const refused = await test.ask(endpointId, { since: SINCE }).expect(409);
    expect(refused.body).toMatchObject({ code: 'replay_in_progress', replayId: first.replayId });
    const { body } = await test.api.request('delete', path, WS).expect(200);
    expect(body).toMatchObject({ state: 'stopped', finishedAt: expect.any(String) });
    await test.work(first);
    expect(await test.sending.deliveries()).toEqual([]);
    await test.work(await test.accepted(endpointId));
    expect(await test.sending.deliveries()).toHaveLength(1);
  });

  it('ends by itself when no worker could continue it for a day', async () => {
    const first = await test.accepted(await test.endpoint());
    await rescueAbandoned(test.database.pool, Date.now() + 23 * HOUR);
    expect((await test.find(first)).state).toBe('queued');
    await rescueAbandoned(test.database.pool, Date.now() + 25 * HOUR);
    expect((await test.find(first)).state).toBe('stopped');
  });
});
