import { randomUUID } from 'node:crypto';
import { describe, expect, it, beforeEach } from '@jest/globals';
import { DAY_MS, runRetention } from '#platform/retention/retention.js';
import { failure, reading, batchEnded, testReading } from '../../test/events.js';
import { webhookRequests } from '../../test/webhook-requests.js';
import { testKeyOf } from '../../test/api.js';
import { webhookRetentions } from '../processes/retention.js';
import { FindToldEvent, ListNewestEvents, PUBLIC_EVENT_TYPES } from '../contracts/index.js';
import { FindToldEventHandler, ListNewestEventsHandler, pageOfFeed } from '../read-models/event-feed.js';

const test = webhookRequests();

interface Page {
  readonly data: readonly { id: string; type: string; readingId: string; sequence: number }[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

const events = (query = '', as = test.ws) => test.api.request('get', `/events${query}`, as);
const page = async (query = '', as = test.ws): Promise<Page> =>
  (await events(query, as).expect(200)).body as Page;
describe('GET /api/v1/events', () => {
  it('continues from a cursor without gaps or duplicates, also from the end of the feed', async () => {
    expect(await page('')).toEqual({ data: [], nextCursor: expect.any(String), hasMore: false });
    let { nextCursor } = await page('?limit=2');
    const given: string[] = [];
    const happened: string[] = [];
    for (const count of [3, 0, 1, 4]) {
      for (let n = 0; n < count; n += 1) {
        const id = randomUUID();
        happened.push(id);
        await test.happen(reading(id).completed());
      }
      for (let more = true; more;) {
        const next = await page(`?limit=2&cursor=${nextCursor}`);
        given.push(...next.data.map(({ readingId }) => readingId));
        ({ nextCursor, hasMore: more } = next);
      }
    }
    expect(given).toEqual(happened);
  });

  it('returns only the chosen types', async () => {
    const one = reading(randomUUID());
    await test.happen(one.completed(), one.published(), ...failure(randomUUID()));
    const types = async (query: string) => (await page(query)).data.map(({ type }) => type);
    expect(await types('?type=reading.failed,reading.published')).toEqual([
      'reading.published',
      'reading.failed',
    ]);
    expect(await types('?type=reading.failed&type=reading.published')).toHaveLength(2);
    const { nextCursor } = await page('?type=reading.published,reading.failed&limit=1');
    expect(await types(`?type=reading.failed,reading.published&cursor=${nextCursor}`)).toEqual([
      'reading.failed',
    ]);
  });

  it('shows nothing of another workspace, nor test events', async () => {
    await test.api.happen('ws_else', reading(randomUUID()).completed());
    const { endpointId } = await test.created();
    await test.post(`/${endpointId}/test`, {}).expect(202);
    expect((await page('')).data).toEqual([]);
  });

  it('refuses what it does not understand', async () => {
    const { nextCursor: filtered } = await page('?type=reading.completed');
    for (const query of [`?cursor=${filtered}`, `?type=reading.failed&cursor=${filtered}`])
      expect((await events(query).expect(400)).body).toMatchObject({ code: 'validation_failed' });
    const unknown = await events('?type=reading.completed,ping').expect(400);
    expect(unknown.body).toMatchObject({
      code: 'unsupported_event_type',
      errors: [{ pointer: '?type', code: 'unsupported_event_type' }],
    });
  });
});

describe('After retention', () => {
  /** When the events of the helpers happen. */
  const HAPPENED = Date.parse('2026-04-04T09:30:00Z');
  const KEPT_SINCE = '2026-04-04T09:30:00.001Z';
  const TERMS = {
    WEBHOOK_DELIVERIES_KEPT_DAYS: 400,
    WEBHOOK_EVENTS_KEPT_DAYS: 400,
    TEST_DATA_KEPT_DAYS: 400,
  };
  beforeEach(() => test.database.pool.query('truncate platform.retention_round, webhooks.deleted_past'));

  /** Ends the terms of what has happened until now, and not of what happens from HAPPENED + 1 ms on. */
  const endTerms = async (): Promise<void> => {
    for (const one of webhookRetentions(test.database.pool, TERMS))
      await runRetention(test.database.pool, one, HAPPENED + 1 + 400 * DAY_MS, new AbortController().signal);
  };
  const gone = { status: 410, code: 'no_longer_kept', keptSince: KEPT_SINCE };
  /** An event of the workspace that outlives its term. */
  const newer = () => reading(randomUUID()).completed({ at: HAPPENED + 1 });

  describe('A cursor', () => {
    it('from before deleted events is 410 with the date, one from after them goes on', async () => {
      await test.happen(reading(randomUUID()).completed(), reading(randomUUID()).completed());
      const { nextCursor: first } = await page('?limit=1');
      const { nextCursor: last } = await page();
      await test.happen(newer());
      await endTerms();
      const { body } = await events(`?cursor=${first}`).expect(410);
      expect(body).toMatchObject({ ...gone, errors: [{ pointer: '?cursor', code: 'no_longer_kept' }] });
      expect((await page(`?cursor=${last}`)).data).toHaveLength(1);
      expect((await page()).data).toHaveLength(1);
    });

    it('of an empty feed is 410 when events came and went since; a new reader goes on', async () => {
      const { nextCursor: before } = await page();
      await test.happen(reading(randomUUID()).completed());
      await endTerms();
      await events(`?cursor=${before}`).expect(410);
      const { data, nextCursor } = await page();
      expect(data).toEqual([]);
      await test.happen(newer());
      expect((await page(`?cursor=${nextCursor}`)).data).toHaveLength(1);
    });

    it('stays good while nothing of its types and modes is deleted', async () => {
      const failures = await page('?type=reading.failed');
      const notices = await page('?type=batch.ended');
      const tests = await page('', testKeyOf(test.ws));
      await test.happen(reading(randomUUID()).completed());
      await endTerms();
      await page(`?type=reading.failed&cursor=${failures.nextCursor}`);
      await page(`?type=batch.ended&cursor=${notices.nextCursor}`);
      await page(`?cursor=${tests.nextCursor}`, testKeyOf(test.ws));
      await test.happen(batchEnded(randomUUID()), testReading(randomUUID()).completed());
      await endTerms();
      await events(`?type=batch.ended&cursor=${notices.nextCursor}`).expect(410);
      await events(`?cursor=${tests.nextCursor}`, testKeyOf(test.ws)).expect(410);
      await page(`?type=reading.failed&cursor=${failures.nextCursor}`);
    });
  });

  describe('GET /api/v1/events/{eventId}', () => {
    const one = (id: string, as = test.ws) => events(`/${id}`, as);

    it('gives an event or a notice of the own mode, byte for byte as it is pushed', async () => {
      await test.happen(reading(randomUUID()).completed(), batchEnded(randomUUID()));
      for (const query of ['', '?type=batch.ended']) {
        const { text } = await events(query).expect(200);
        const [{ id } = { id: '' }] = (JSON.parse(text) as Page).data;
        const found = await one(id).expect(200);
        expect(text).toContain(found.text);
        await one(id).set('if-none-match', found.headers['etag']!).expect(304);
        expect((await one(id, testKeyOf(test.ws)).expect(404)).body).toMatchObject({ code: 'not_found' });
      }
    });

    it('is 404 until events are deleted, then 410 with the date; other workspaces learn nothing', async () => {
      await test.happen(reading(randomUUID()).completed());
      const [{ id } = { id: '' }] = (await page()).data;
      const stranger = `${test.ws}x`;
      expect((await one(id, stranger).expect(403)).body).toMatchObject({ code: 'wrong_workspace' });
      for (const unknown of [`evt_${randomUUID()}`, 'evt_1', '%00'])
        expect((await one(unknown).expect(404)).body).toMatchObject({ code: 'not_found' });
      await endTerms();
      expect((await one(id).expect(410)).body).toMatchObject(gone);
      const answers = await Promise.all(
        [id, `evt_${randomUUID()}`].map((any) => one(any, stranger).expect(404)),
      );
      expect(new Set(answers.map(({ body }) => (body as { detail: string }).detail)).size).toBe(1);
    });
  });

  describe('A delivery', () => {
    const UNKNOWN = randomUUID();

    it('that is deleted is 410 with the date, and cannot be sent again; an endpoint without a past says 404', async () => {
      const { endpointId } = await test.created();
      await test.happen(reading(randomUUID()).completed());
      const { body } = await test.get(`/${endpointId}/deliveries`).expect(200);
      const [{ deliveryId }] = (body as { data: [{ deliveryId: string }] }).data;
      await endTerms();
      // The endpoint is younger than what was deleted: it never had such a delivery.
      await test.get(`/${endpointId}/deliveries/${deliveryId}`).expect(404);
      await test.database.pool.query('update webhooks.endpoint set created_at = $2 where endpoint_id = $1', [
        endpointId,
        new Date(HAPPENED - DAY_MS),
      ]);
      for (const id of [deliveryId, UNKNOWN]) {
        expect((await test.get(`/${endpointId}/deliveries/${id}`).expect(410)).body).toMatchObject(gone);
        const again = await test.post(`/${endpointId}/deliveries/${id}/redeliver`).expect(410);
        expect(again.body).toMatchObject(gone);
      }
    });
  });

  describe('A replay', () => {
    it('of what is deleted is refused with the field and the earliest instant, and the rest can be had', async () => {
      const { endpointId } = await test.created();
      await test.happen(reading(randomUUID()).completed(), newer());
      const replay = (since: string, types = ['reading.completed']) =>
        test.post(`/${endpointId}/replay`, { since, types, dryRun: true });
      await replay('2026-04-01T00:00:00Z').expect(202);
      await endTerms();
      expect((await replay('2026-04-01T00:00:00Z').expect(410)).body).toMatchObject({
        ...gone,
        errors: [{ pointer: '/since', code: 'no_longer_kept' }],
      });
      await replay(KEPT_SINCE).expect(202);
      // Nothing of this type is deleted.
      await replay('2026-04-01T00:00:00Z', ['reading.failed']).expect(202);
    });
  });
});

describe('In the portal', () => {
  const newest = (before: string | null = null, limit = 10, mode: 'live' | 'test' = 'live') =>
    new ListNewestEventsHandler(test.database.pool).execute(
      new ListNewestEvents(test.ws, mode, PUBLIC_EVENT_TYPES, limit, before),
    );
  const find = (eventId: string, workspaceId = test.ws, mode: 'live' | 'test' = 'live') =>
    new FindToldEventHandler(test.database.pool).execute(new FindToldEvent(workspaceId, mode, eventId));

  describe('what an endpoint was sent', () => {
    it('is found in its workspace and mode; a trial in both modes', async () => {
      await test.happen(reading(randomUUID()).completed());
      const { body } = (await newest())[0]!;
      const { id } = JSON.parse(body) as { id: string };
      expect((await find(id))?.body).toBe(body);
      expect(await find(id, 'ws_else')).toBeNull();
      expect(await find(id, test.ws, 'test')).toBeNull();
      const { endpointId } = await test.created();
      const { body: trial } = await test.post(`/${endpointId}/test`, {}).expect(202);
      const { eventId } = trial as { eventId: string };
      for (const mode of ['live', 'test'] as const)
        expect(JSON.parse((await find(eventId, test.ws, mode))!.body)).toMatchObject({ trial: true });
      expect(await find(eventId, 'ws_else')).toBeNull();
    });
  });
});

it('The feed of notices is in the order of numbers, and the list of the newest in the other', async () => {
  // Positions of one and of two digits: as texts they have another order.
  await test.database.pool.query('truncate webhooks.notice restart identity');
  await test.database.pool.query(
    `insert into webhooks.notice (event_id, workspace_id, type, subject, occurrence, livemode, occurred_at, body)
     select 'evt_' || gen_random_uuid(), $1, 'credits.low', $1, number::text, true, now(), '{}'
     from generate_series(1, 12) number`,
    [test.ws],
  );
  const of = (found: readonly { readonly position: string | null }[]) =>
    found.map(({ position }) => Number(position));
  const list = new ListNewestEventsHandler(test.database.pool);
  expect(of(await pageOfFeed(test.database.pool, test.ws, 5, '7', ['credits.low'], ['live']))).toEqual([
    8, 9, 10, 11, 12,
  ]);
  const newest = new ListNewestEvents(test.ws, 'live', ['credits.low'], 3, '11');
  expect(of(await list.execute(newest))).toEqual([10, 9, 8]);
});
