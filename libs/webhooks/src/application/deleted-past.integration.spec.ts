import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { DAY_MS, runRetention } from '#platform/retention/retention.js';
import { testKeyOf } from '../../test/api.js';
import { batchEnded, reading, testReading } from '../../test/events.js';
import { webhookRequests } from '../../test/webhook-requests.js';
import { webhookRetentions } from '../processes/retention.js';

/** When the events of the helpers happen. */
const HAPPENED = Date.parse('2026-04-04T09:30:00Z');
const KEPT_SINCE = '2026-04-04T09:30:00.001Z';
const TERMS = {
  WEBHOOK_DELIVERIES_KEPT_DAYS: 400,
  WEBHOOK_EVENTS_KEPT_DAYS: 400,
  WEBHOOK_NOTICES_KEPT_DAYS: 400,
  WEBHOOK_STATS_KEPT_DAYS: 400,
  TEST_DATA_KEPT_DAYS: 400,
};
const test = webhookRequests();
beforeEach(() => test.database.pool.query('truncate platform.retention_round, webhooks.deleted_past'));

/** Ends the terms of what has happened until now, and not of what happens from HAPPENED + 1 ms on. */
const endTerms = async (): Promise<void> => {
  for (const one of webhookRetentions(test.database.pool, TERMS))
    await runRetention(test.database.pool, one, HAPPENED + 1 + 400 * DAY_MS, new AbortController().signal);
};
const events = (query = '', as = test.ws) => test.api.request('get', `/events${query}`, as);
interface Page {
  readonly data: readonly { id: string }[];
  readonly nextCursor: string;
}
const page = async (query = '', as = test.ws): Promise<Page> =>
  (await events(query, as).expect(200)).body as Page;
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
