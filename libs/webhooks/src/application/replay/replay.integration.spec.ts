import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failure, reading } from '../../../test/events.js';
import { eventually, ok, status } from '../../../test/receiver.js';
import { DAY, NEVER, SINCE, WS, replaying } from '../../../test/replaying.js';
import { TestService } from '../../../test/service.js';
import type { ReplayRecord } from '../../contracts/deliveries.js';
import { replayTask } from '../replay.js';

const test = replaying();

describe('A replay', () => {
  it('sends events from before the endpoint existed: the same ids and bytes, in the order of the log', async () => {
    const early = await test.endpoint();
    const [one, two] = [reading(randomUUID()), reading(randomUUID())];
    const [failed, release] = failure(randomUUID());
    await test.api.happen(
      WS,
      one.delayed(),
      failed,
      two.completed(),
      one.completed(),
      release,
      one.published(),
    );
    await test.settled();
    const pushed = new Map(test.arrivals().map(({ id, body }) => [id, body]));
    test.receiver.received.length = 0;
    const late = await test.endpoint();
    const done = await test.replay(late, {});
    expect(done).toMatchObject({
      endpointId: late,
      state: 'finished',
      events: 5,
      progress: 1,
      deliveries: { succeeded: 5, pending: 0 },
    });
    expect(test.arrivals().map(({ id }) => id)).toEqual((await test.feed()).map(({ id }) => id));
    for (const { id, body, headers } of test.arrivals()) {
      expect(body).toBe(pushed.get(id));
      expect(headers).toMatchObject({ 'x-service-event-id': id, 'x-service-redelivery': 'true' });
    }
    expect(await test.replay(early, {})).toMatchObject({ events: 0, state: 'finished' });
  });

  it('delays what follows a failed delivery to its retry: nothing is due that cannot be sent', async () => {
    const endpointId = await test.endpoint();
    const { delayed, completed, published } = reading(randomUUID());
    await test.api.happen(WS, delayed(), completed(), published());
    await test.settled();
    await test.sending.stop();
    test.sending = new TestService(test.database, { settings: { WEBHOOK_RETRY_SCHEDULE_MS: '0,3600000' } });
    test.sending.dispatch();
    test.receiver.answer = status(500);
    test.receiver.received.length = 0;
    const asked = (await test.ask(endpointId, { since: SINCE, statuses: ['succeeded'] }).expect(202))
      .body as ReplayRecord;
    await replayTask(test.database.pool, { now: () => Date.now() }).handle(
      { replayId: asked.replayId },
      NEVER,
    );
    const replayed = async () => {
      const { rows } = await test.database.pool.query<{ attempts: number; due_at: Date }>(
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
    expect(test.receiver.received.map(({ headers }) => headers['x-service-redelivery'])).toEqual(['true']);
  });

  it('gives way to new events, whichever was requested first', async () => {
    const endpointId = await test.endpoint();
    const old = Array.from({ length: 12 }, () => randomUUID());
    for (const id of old) await test.api.happen(WS, reading(id).completed());
    await test.settled();
    test.receiver.received.length = 0;
    const held: (() => void)[] = [];
    test.receiver.answer = (response) => void held.push(() => response.writeHead(204).end());
    const asked = (await test.ask(endpointId, { since: SINCE, statuses: ['succeeded'] }).expect(202))
      .body as ReplayRecord;
    await replayTask(test.database.pool, { now: () => Date.now() }).handle(
      { replayId: asked.replayId },
      NEVER,
    );
    await eventually(() => held.length === 1);
    const fresh = Array.from({ length: 3 }, () => randomUUID());
    for (const id of fresh) await test.api.happen(WS, reading(id).completed());
    test.receiver.answer = ok;
    held[0]!();
    await test.settled();
    const order = test.arrivals().map(({ readingId }) => readingId);
    expect(order).toHaveLength(15);
    // One replayed delivery was already in flight.
    expect(order.slice(1, 4)).toEqual(fresh);
  });

  it('sends as many as its dry run counts, which sends none', async () => {
    const endpointId = await test.endpoint();
    test.receiver.answer = (response, received, index) =>
      (index % 3 === 0 ? status(500) : ok)(response, received, index);
    for (let n = 0; n < 12; n += 1) await test.api.happen(WS, reading(randomUUID()).completed());
    await test.settled();
    test.receiver.answer = ok;
    for (const statuses of [
      undefined,
      ['exhausted'],
      ['succeeded'],
      ['missing'],
      ['exhausted', 'succeeded'],
    ]) {
      const body = statuses ? { statuses } : {};
      test.receiver.received.length = 0;
      const counted = await test.replay(endpointId, { ...body, dryRun: true });
      expect(test.receiver.received).toHaveLength(0);
      const sent = await test.replay(endpointId, body);
      expect(sent.events).toBe(counted.events);
      expect(test.receiver.received).toHaveLength(counted.events);
    }
  });

  it('chooses by time, type and outcome of the events', async () => {
    const gone = reading(randomUUID());
    await test.api.happen(WS, gone.completed({ at: DAY(2) }), gone.published({ at: DAY(3) }));
    await test.api.happen('ws_else', reading(randomUUID()).completed({ at: DAY(3) }));
    const endpointId = await test.endpoint();
    await test.api.happen(WS, reading(randomUUID()).completed({ at: DAY(4) }));
    await test.settled();
    await test.api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: false }).expect(200);
    await test.api.happen(WS, ...failure(randomUUID(), DAY(5)));
    await test.api.request('patch', `/webhooks/${endpointId}`, WS, { enabled: true }).expect(200);
    const count = async (body: object) => (await test.replay(endpointId, { ...body, dryRun: true })).events;
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
      await test.api.happen(WS, reading(id).delayed(), reading(id).completed(), reading(id).published());
    const endpointId = await test.endpoint();
    test.receiver.answer = (response, received, index) =>
      (index % 2 === 0 ? status(500) : ok)(response, received, index);
    await test.sending.stop();
    test.sending = new TestService(test.database, {
      // Enough attempts that no delivery is exhausted, whichever fails every second request.
      settings: { WEBHOOK_RETRY_SCHEDULE_MS: ['0', ...Array<string>(19).fill('10')].join(',') },
    });
    test.sending.dispatch();
    expect(await test.replay(endpointId, {})).toMatchObject({ events: 15, deliveries: { succeeded: 15 } });
    for (const id of ids) {
      const sequences = test
        .arrivals()
        .flatMap(({ readingId, sequence }) => (readingId === id ? [sequence] : []));
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    }
  });
});
