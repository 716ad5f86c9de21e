import { randomUUID } from 'node:crypto';
import { describe, expect, it, beforeEach } from '@jest/globals';
import { type DeliveryFilter, pageOfDeliveries, RequestedDeliveries } from '../http/deliveries.js';
import { TRIAL, testKeyOf, url } from '../../test/api.js';
import { reading, testReading } from '../../test/events.js';
import { NEVER } from '../../test/replaying.js';
import { webhookRequests } from '../../test/webhook-requests.js';
import { replayTask } from './replay.js';
import { ALL_DELIVERIES } from '../read-models/delivery-sql.js';

const test = webhookRequests();

interface Listed {
  readonly data: readonly { endpointId?: string; deliveryId: string; readingId: string; livemode: boolean }[];
}
const testKey = () => testKeyOf(test.ws);
const listed = async (path: string, as: string): Promise<Listed['data']> =>
  ((await test.api.request('get', path, as).expect(200)).body as Listed).data;
const readingIds = async (path: string, as: string) =>
  (await listed(path, as)).map(({ readingId }) => readingId);

/** A live and a test reading that completed. */
const bothHappened = async () => {
  const [live, tested] = [randomUUID(), randomUUID()];
  await test.happen(reading(live).completed(), testReading(tested).completed());
  return { live, tested };
};

describe('An endpoint', () => {
  it('has the mode of the key that creates it; a live key may add test', async () => {
    expect(await test.created({ url })).toMatchObject({ modes: ['live'] });
    expect(await test.created({ url }, testKey())).toMatchObject({ modes: ['test'] });
    expect(await test.created({ url, modes: ['test', 'live'] })).toMatchObject({ modes: ['live', 'test'] });
  });

  it.each([
    ['test alone by a live key', 'live', ['test']],
    ['live by a test key', 'test', ['live', 'test']],
  ])('is not created of %s', async (_, mode, modes) => {
    const as = mode === 'live' ? test.ws : testKey();
    const { body } = await test.post('', { url, modes }, as).expect(400);
    expect(body).toMatchObject({ errors: [{ pointer: '/modes', code: 'invalid_value' }] });
  });

  it('takes no place of the other mode', async () => {
    for (let nr = 0; nr < 16; nr += 1) await test.created({ url }, testKey());
    await test.post('', { url }, testKey()).expect(409);
    await test.created({ url });
  });

  it('is unknown to a key of the other mode, on every route', async () => {
    const live = await test.created({ url });
    const tested = await test.created({ url }, testKey());
    expect((await listed('/webhooks', test.ws)).map((one) => one.endpointId)).toEqual([live.endpointId]);
    expect((await listed('/webhooks', testKey())).map((one) => one.endpointId)).toEqual([tested.endpointId]);
    const hidden = [
      test.get(`/${live.endpointId}`, testKey()),
      test.get(`/${live.endpointId}/deliveries`, testKey()),
      test.get(`/${live.endpointId}/health`, testKey()),
      test.patch(live.endpointId, {}, testKey()),
      test.post(`/${live.endpointId}/rotate-secret`, {}, testKey()),
      test.post(`/${live.endpointId}/test`, {}, testKey()),
      test.post(`/${live.endpointId}/replay`, { since: '2026-04-01T00:00:00Z' }, testKey()),
      test.remove(live.endpointId, testKey()),
      test.get(`/${tested.endpointId}`),
    ];
    for (const one of hidden)
      expect((await one.expect(404)).body).toMatchObject({ code: 'webhook_not_found' });
  });

  it('of both modes is changed by a live key alone, and its secret given to no other', async () => {
    const { endpointId } = await test.created({ url, modes: ['live', 'test'] });
    await test.get(`/${endpointId}`, testKey()).expect(200);
    for (const one of [
      test.patch(endpointId, { enabled: false }, testKey()),
      test.post(`/${endpointId}/rotate-secret`, {}, testKey()),
      test.remove(endpointId, testKey()),
    ])
      expect((await one.expect(403)).body).toMatchObject({ code: 'auth_mode_not_allowed' });
    expect((await test.patch(endpointId, { modes: ['live'] }).expect(200)).body).toMatchObject({
      modes: ['live'],
    });
    await test.get(`/${endpointId}`, testKey()).expect(404);
  });

  it('is judged by its stream, whatever modes its row still has', async () => {
    const live = await test.created({ url });
    await test.happen(testReading(randomUUID()).completed());
    await test.post(`/${live.endpointId}/test`, {}).expect(202);
    const [delivery] = await listed(`/webhooks/${live.endpointId}/deliveries`, test.ws);
    const left = live.endpointId;
    await test.database.pool.query(
      `update webhooks.endpoint set modes = '{live,test}' where endpoint_id = $1`,
      [left],
    );
    for (const one of [
      test.patch(left, { description: 'mine' }, testKey()),
      test.post(`/${left}/rotate-secret`, {}, testKey()),
      test.post(`/${left}/verify`, {}, testKey()),
      test.post(`/${left}/test`, {}, testKey()),
      test.post(`/${left}/replay`, { since: '2026-04-01T00:00:00Z' }, testKey()),
      test.post(`/${left}/deliveries/${delivery!.deliveryId}/redeliver`, {}, testKey()),
      test.remove(left, testKey()),
    ])
      expect([404, 403]).toContain((await one).status);
  });
});

describe('An event', () => {
  it('goes to the endpoints of its mode alone, and says which it is', async () => {
    const live = await test.created({ url });
    const tested = await test.created({ url }, testKey());
    const both = await test.created({ url, modes: ['live', 'test'] });
    const happened = await bothHappened();
    const sentTo = async ({ endpointId }: { endpointId: string }): Promise<Record<string, boolean>> => {
      const { rows } = await test.database.pool.query<{ reading_id: string; livemode: boolean }>(
        `select event.reading_id, (event.body::json ->> 'livemode')::boolean as livemode
         from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id) where endpoint_id = $1`,
        [endpointId],
      );
      return Object.fromEntries(rows.map((row) => [row.reading_id, row.livemode]));
    };
    expect(await sentTo(live)).toEqual({ [happened.live]: true });
    expect(await sentTo(tested)).toEqual({ [happened.tested]: false });
    expect(await sentTo(both)).toEqual({ [happened.live]: true, [happened.tested]: false });
  });
});

describe('At an endpoint of both modes, a key', () => {
  it('sees and sends again the deliveries of its own mode alone', async () => {
    const { endpointId } = await test.created({ url, modes: ['live', 'test'] });
    const happened = await bothHappened();
    const path = `/webhooks/${endpointId}/deliveries`;
    expect(await readingIds(path, test.ws)).toEqual([happened.live]);
    const [tested] = await listed(path, testKey());
    expect(tested).toMatchObject({ readingId: happened.tested, livemode: false });
    await test.get(`/${endpointId}/deliveries/${tested!.deliveryId}`, testKey()).expect(200);
    await test.get(`/${endpointId}/deliveries/${tested!.deliveryId}`).expect(404);
    await test.post(`/${endpointId}/deliveries/${tested!.deliveryId}/redeliver`).expect(404);
    await test.post(`/${endpointId}/deliveries/${tested!.deliveryId}/redeliver`, {}, testKey()).expect(202);
  });

  it('replays events of its own mode alone, and sees no other replay', async () => {
    await bothHappened();
    const { endpointId } = await test.created({ url, modes: ['live', 'test'] });
    const asked = {
      since: '2026-04-01T00:00:00Z',
      statuses: ['missing', 'skipped', 'exhausted'],
      dryRun: true,
    };
    const { body } = await test.post(`/${endpointId}/replay`, asked, testKey()).expect(202);
    const { replayId } = body as { replayId: string };
    expect(body).toMatchObject({ modes: ['test'] });
    const task = replayTask(test.database.pool, { now: () => Date.now() });
    await task.handle({ replayId }, NEVER);
    const done = await test.get(`/${endpointId}/replays/${replayId}`, testKey()).expect(200);
    expect(done.body).toMatchObject({ state: 'finished', events: 1 });
    await test.get(`/${endpointId}/replays/${replayId}`).expect(404);
    await test.remove(`${endpointId}/replays/${replayId}`).expect(404);
  });

  it('does not get an event of the other mode again that was sent before it left that mode', async () => {
    const { endpointId } = await test.created({ url, modes: ['live', 'test'] });
    await bothHappened();
    const [live] = await listed(`/webhooks/${endpointId}/deliveries`, test.ws);
    await test.database.pool.query(`update webhooks.endpoint set modes = '{test}' where endpoint_id = $1`, [
      endpointId,
    ]);
    const caller = { workspaceId: test.ws, sees: ['live', 'test'] } as const;
    const again = await test.api.app.get(RequestedDeliveries).sendAgain(endpointId, live!.deliveryId, caller);
    expect(again).toMatchObject({ outcome: 'queued', delivery: { status: 'skipped' } });
  });

  it('replays events while a replay of the other mode runs', async () => {
    const { endpointId } = await test.created({ url, modes: ['live', 'test'] });
    const asked = { since: '2026-04-01T00:00:00Z' };
    await test.post(`/${endpointId}/replay`, asked, testKey()).expect(202);
    await test.post(`/${endpointId}/replay`, asked).expect(202);
    await test.post(`/${endpointId}/replay`, asked).expect(409);
  });

  it('has Idempotency-Keys of its own for replays', async () => {
    const { endpointId } = await test.created({ url, modes: ['live', 'test'] });
    const ask = async (as?: string) => {
      const asked = { since: '2026-04-01T00:00:00Z' };
      const { body } = await test
        .post(`/${endpointId}/replay`, asked, as)
        .set('idempotency-key', 'once')
        .expect(202);
      return (body as { replayId: string }).replayId;
    };
    const ids = [await ask(testKey()), await ask(), await ask(testKey()), await ask()];
    expect([ids[2], ids[3]]).toEqual([ids[0], ids[1]]);
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('A trial', () => {
  it('shows the external id of its reading as an event does, to a caller who sees the reading', async () => {
    const { pool } = test.database;
    const [live, tested] = [await test.created({ url }), await test.created({ url }, testKey())];
    const sent = async ({ endpointId } = tested, key = testKey()) => {
      const { body } = await test.post(`/${endpointId}/test`, {}, key).expect(202);
      const { rows } = await pool.query<{ body: string; shows: boolean }>(
        'select body, shows_external_id as shows from webhooks.public_event where event_id = $1',
        [(body as { eventId: string }).eventId],
      );
      const { externalId } = JSON.parse(rows[0]!.body) as { externalId?: string | null };
      return { shows: rows[0]!.shows, externalId };
    };
    expect(await sent()).toEqual({ shows: false, externalId: null });
    await pool.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key, lookups) values ($1, $2, '', '{x}')`,
      [TRIAL.readingId, test.ws],
    );
    expect(await sent()).toEqual({ shows: true, externalId: undefined });
    expect(await sent(live, test.ws)).toEqual({ shows: false, externalId: null });
    await pool.query('insert into webhooks.content values ($1, false)', [test.ws]);
    expect(await sent()).toEqual({ shows: false, externalId: undefined });
    await pool.query('delete from platform.subject_key');
  });
});

describe('A list with a filter', () => {
  const COMMON = 3_000;
  const MOST = 10_000;
  let endpointId: string;

  const added = async (type: string, count: number, workspaceId = test.ws): Promise<readonly string[]> => {
    const { rows } = await test.database.pool.query<{ delivery_id: string }>(
      `with event as (
       insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at)
       select 'evt_' || gen_random_uuid(), $1, gen_random_uuid(), $2, 1, '{}', now()
       from generate_series(1, $3::int) returning event_id)
     insert into webhooks.settled_delivery
       (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at, settled_at)
     select gen_random_uuid(), $4, event_id, 'succeeded', 1, false, false, date_trunc('milliseconds', now()), now() from event
     returning delivery_id`,
      [workspaceId, type, count, endpointId],
    );
    return rows.map((row) => row.delivery_id);
  };

  /** One page. */
  const page = (filter: Partial<DeliveryFilter>, after: readonly string[] | null = null, limit = MOST) =>
    pageOfDeliveries(test.database.pool, endpointId, limit, after, {
      statuses: null,
      types: null,
      readingId: null,
      since: null,
      until: null,
      undelivered: false,
      modes: ['live'],
      ...filter,
    });

  /** All pages. */
  const listed = async (filter: Partial<DeliveryFilter>): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let after: readonly string[] | null = null; ;) {
      const found = await page(filter, after);
      ids.push(...found.records.map(({ deliveryId }) => deliveryId));
      if (found.after === null) return ids;
      after = found.after;
    }
  };

  beforeEach(async () => {
    await test.database.pool.query('truncate webhooks.public_event, webhooks.settled_delivery');
    ({ endpointId } = await test.created());
    await added('reading.completed', COMMON);
  });

  it('Few deliveries of a type are found among many others, those of this workspace alone', async () => {
    const failed = await added('reading.failed', 2);
    const delayed = await added('reading.delayed', 1);
    await added('reading.failed', 1, 'ws_else');
    expect((await listed({ types: ['reading.failed'] })).toSorted()).toEqual(failed.toSorted());
    expect(await listed({ types: ['reading.delayed'] })).toEqual(delayed);
    expect(await listed({ types: ['credits.low'] })).toEqual([]);
    expect(await listed({ types: ['reading.failed', 'reading.completed'] })).toHaveLength(COMMON + 3);
  });

  it('A page looks at a thousand deliveries, and says where the list goes on', async () => {
    const { deliveryId } = (await page({}, null, 1)).records[0]!;
    await test.database.pool.query(
      `update webhooks.settled_delivery set status = 'exhausted', created_at = created_at - interval '1 day'
     where delivery_id = $1`,
      [deliveryId],
    );
    const first = await page({ statuses: ['succeeded', 'exhausted'], modes: ['test'] });
    expect([first.records, first.after]).toEqual([[], expect.any(Array)]);
    const pages = [first];
    while (pages.at(-1)!.after !== null)
      pages.push(await page({ statuses: ['succeeded', 'exhausted'], modes: ['test'] }, pages.at(-1)!.after));
    expect(pages.map(({ records }) => records.length)).toEqual([0, 0, 0, 0]);
    expect(await listed({ statuses: ['exhausted'] })).toEqual([deliveryId]);
  });
});
