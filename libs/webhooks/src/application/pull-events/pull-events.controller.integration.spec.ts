import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failure, reading } from '../../../test/events.js';
import { webhookRequests } from '../../../test/webhook-requests.js';
import { ALL_DELIVERIES } from '../../read-models/delivery-sql.js';

interface Page {
  readonly data: readonly { id: string; type: string; readingId: string; sequence: number }[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

const test = webhookRequests();

const get = (query: string, as = test.ws) => test.api.request('get', `/events${query}`, as);
const page = async (query: string, as = test.ws): Promise<Page> =>
  (await get(query, as).expect(200)).body as Page;
/** The bodies of an endpoint's deliveries, in the order of the log. */
const pushed = async (endpointId: string): Promise<string[]> => {
  const { rows } = await test.database.pool.query<{ body: string }>(
    `select event.body from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id)
     where endpoint_id = $1 and not test order by event.position`,
    [endpointId],
  );
  return rows.map(({ body }) => body);
};

describe('GET /api/v1/events', () => {
  it('gives what webhooks send: the same bytes in the order of the log', async () => {
    const { endpointId } = await test.created();
    const [one, two] = [reading(randomUUID()), reading(randomUUID())];
    await test.happen(one.delayed(), two.completed(), one.completed(), two.published(), one.published());
    const response = await get('').expect(200);
    expect(response.headers['content-type']).toBe('application/json');
    const bodies = await pushed(endpointId);
    expect(bodies).toHaveLength(5);
    expect(response.text).toContain(`{"data":[${bodies.join(',')}],"nextCursor":"`);
    expect((response.body as Page).data.map(({ type }) => type)).toEqual([
      'reading.delayed',
      'reading.completed',
      'reading.completed',
      'reading.published',
      'reading.published',
    ]);
  });

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

  it('continues to a failure whose credits are released only after later events were read', async () => {
    const [failing, other] = [randomUUID(), randomUUID()];
    const [failed, release] = failure(failing);
    await test.happen(failed, reading(other).completed());
    const { data, nextCursor } = await page('');
    expect(data.map(({ readingId }) => readingId)).toEqual([other]);
    await test.happen(release, reading(other).published());
    expect((await page(`?cursor=${nextCursor}`)).data.map(({ type }) => type)).toEqual([
      'reading.failed',
      'reading.published',
    ]);
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
    await test.happen(reading(randomUUID()).completed());
    const { nextCursor } = await page('');
    const { nextCursor: filtered } = await page('?type=reading.completed');
    for (const query of [
      '?limit=0',
      '?limit=101',
      '?cursor=nonsense',
      `?cursor=${filtered}`,
      `?type=reading.failed&cursor=${filtered}`,
    ]) {
      expect((await get(query).expect(400)).body).toMatchObject({ code: 'validation_failed' });
    }
    await get(`?cursor=${nextCursor}`, 'ws_other').expect(400);
    const unknown = await get('?type=reading.completed,ping').expect(400);
    expect(unknown.body).toMatchObject({
      code: 'unsupported_event_type',
      errors: [{ pointer: '?type', code: 'unsupported_event_type' }],
    });
  });

  it('answers 304 to a caller that has the page', async () => {
    const { headers } = await get('');
    await get('').set('if-none-match', headers['etag']!).expect(304);
  });
});
