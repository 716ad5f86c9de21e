import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { reading } from '../../../test/events.js';
import { eventually } from '../../../test/receiver.js';
import { DAY, NEVER, SINCE, WS, replaying } from '../../../test/replaying.js';
import { TestService } from '../../../test/service.js';
import type { ReplayRecord } from '../../contracts/deliveries.js';
import { replayTask, rescueAbandoned } from '../replay.js';
import { skipNext } from '../../processes/skip-pending.js';

const test = replaying();

/** Connections that commit slowly; `meanwhile` starts before that. */
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

describe('The job of a replay', () => {
  it('adds nothing to an endpoint that is disabled while a page is being added', async () => {
    await test.sending.stop();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    const endpointId = await test.endpoint();
    const asked = (await test.ask(endpointId, { since: SINCE }).expect(202)).body as ReplayRecord;
    let disabled: Promise<unknown> = Promise.resolve();
    const slow = slowToCommit(test.database.pool, () => {
      // Would be sent as soon as a worker reads the queue.
      disabled = test.api
        .request('patch', `/webhooks/${endpointId}`, WS, { enabled: false })
        .expect(200)
        .then();
    });
    await replayTask(slow, { now: () => Date.now() }).handle({ replayId: asked.replayId }, NEVER);
    await disabled;
    await eventually(async () => {
      await skipNext(test.database.pool);
      return (await test.sending.deliveries()).every(({ status: is }) => is === 'skipped');
    });
    const { body } = await test.api
      .request('patch', `/webhooks/${endpointId}`, WS, { enabled: true })
      .expect(200);
    expect(body).toMatchObject({ enabled: true, skippedDeliveries: 1 });
    test.sending = new TestService(test.database);
    test.sending.dispatch();
    await test.sending.idle();
    expect(test.receiver.received).toEqual([]);
  });

  it('waits while deliveries of a disabled endpoint are still to be skipped, and then includes them', async () => {
    await test.sending.stop();
    const endpointId = await test.endpoint();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    await test.database.pool.query(`insert into webhooks.skipping values ($1, $2, now())`, [
      endpointId,
      Number.MAX_SAFE_INTEGER,
    ]);
    const asked = (await test.ask(endpointId, { since: SINCE, dryRun: true }).expect(202))
      .body as ReplayRecord;
    const work = () =>
      replayTask(test.database.pool, { now: () => Date.now() }).handle({ replayId: asked.replayId }, NEVER);
    await work();
    expect(await test.find(asked)).toMatchObject({ state: 'queued', events: 0 });
    await test.sending.skip();
    // The rescue of stalled replays adds the job again.
    await work();
    expect(await test.find(asked)).toMatchObject({ state: 'finished', events: 1 });
  });

  it('sends each event once, however often its job runs and in however many workers', async () => {
    for (let n = 0; n < 20; n += 1) await test.api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await test.endpoint();
    const asked = (await test.ask(endpointId, { since: SINCE }).expect(202)).body as ReplayRecord;
    const task = replayTask(test.database.pool, { now: () => Date.now() });
    const once = () => task.handle({ replayId: asked.replayId }, NEVER);
    await Promise.all([once(), once(), once()]);
    await once();
    await test.settled();
    expect(test.arrivals()).toHaveLength(20);
    expect(await test.find(asked)).toMatchObject({ events: 20 });
  });

  it('makes ids that begin with the time it was asked for, as those of new events begin with the event’s', async () => {
    await test.sending.stop();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(2) }));
    const endpointId = await test.endpoint();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(1) }));
    const { replayId } = (await test.ask(endpointId, { since: SINCE, statuses: ['missing'] }).expect(202))
      .body as ReplayRecord;
    await replayTask(test.database.pool, { now: () => Date.now() + 60_000 }).handle({ replayId }, NEVER);
    const { rows } = await test.database.pool.query<{ id: string; at: Date; replayed: boolean }>(
      `select delivery_id as id, coalesce(replay.created_at, event.occurred_at) as at, replay_id is not null as replayed
       from webhooks.delivery join webhooks.public_event event using (event_id)
       left join webhooks.replay using (replay_id)`,
    );
    expect(rows.map(({ replayed }) => replayed).toSorted()).toEqual([false, true]);
    for (const { id, at } of rows)
      expect(parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(at.getTime());
  });

  it('resumes when its worker was killed', async () => {
    const endpointId = await test.endpoint();
    const before = Date.now();
    await test.ask(endpointId, { since: SINCE }).expect(202);
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

  it('stops when the endpoint is disabled, and does not start while it is', async () => {
    await test.api.happen(WS, reading(randomUUID()).completed());
    const endpointId = await test.endpoint();
    const asked = (await test.ask(endpointId, { since: SINCE }).expect(202)).body as ReplayRecord;
    await test.api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false }).expect(200);
    await replayTask(test.database.pool, { now: () => Date.now() }).handle(
      { replayId: asked.replayId },
      NEVER,
    );
    expect(await test.find(asked)).toMatchObject({ state: 'stopped', events: 0 });
    const refused = await test.ask(endpointId, { since: SINCE }).expect(412);
    expect(refused.body).toMatchObject({ code: 'precondition_failed' });
    expect(await test.replay(endpointId, { dryRun: true })).toMatchObject({ events: 1 });
  });
});
