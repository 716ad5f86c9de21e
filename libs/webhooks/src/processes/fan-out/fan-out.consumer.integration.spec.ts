import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { endpoint, failure, reading, stored } from '../../../test/events.js';
import { fanningOut } from '../../../test/fanning-out.js';
import { fanOutConsumer } from '../fan-out.consumer.js';

const test = fanningOut();
const A = endpoint('we_a');
const B = endpoint('we_b');

describe('The fan-out', () => {
  it('adds a delivery for each endpoint of the workspace that subscribes to the type', async () => {
    const id = randomUUID();
    await test.handle(
      A.created(),
      B.created({ events: ['reading.published'] }),
      endpoint('we_c').created({ workspaceId: 'ws_other' }),
      reading(id).completed(),
      reading(id).published(),
    );
    expect(await test.deliveries()).toEqual([
      { endpoint_id: 'we_a', type: 'reading.completed', status: 'pending', sequence: 1 },
      { endpoint_id: 'we_a', type: 'reading.published', status: 'pending', sequence: 2 },
      { endpoint_id: 'we_b', type: 'reading.published', status: 'pending', sequence: 2 },
    ]);
  });

  it('wakes the workers only when it has added a delivery', async () => {
    const client = await test.database.pool.connect();
    const woken: string[] = [];
    client.on('notification', ({ channel }) => woken.push(channel));
    const heard = async (): Promise<number> => {
      // Notifications come before the answer.
      await client.query('select');
      return woken.splice(0).length;
    };
    try {
      await client.query('listen webhooks_due');
      await test.handle(reading(randomUUID()).completed());
      expect(await heard()).toBe(0);
      await test.handle(A.created(), reading(randomUUID()).completed());
      expect(await heard()).toBe(1);
    } finally {
      client.release(true);
    }
  });

  it('sends an event only to the endpoints created before it in the log', async () => {
    const [before, after] = [randomUUID(), randomUUID()];
    await test.handle(reading(before).completed(), A.created(), reading(after).completed());
    const inserted = await test.rows<{ reading_id: string }>('select reading_id from webhooks.delivery');
    expect(inserted).toEqual([{ reading_id: after }]);
    expect(await test.bodies()).toHaveLength(2);
  });

  it('changes nothing when a batch is repeated, whole or split differently', async () => {
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
    const batch = [
      reading(one).delayed(),
      A.created(),
      reading(one).completed(),
      A.updated(1, { events: ['reading.failed'] }),
      reading(two).completed(),
      A.rotated(2, 2, '2026-04-05T00:00:00.000Z'),
      B.created(),
      reading(one).published(),
      B.disabled(1),
      ...failure(two),
      reading(three).failed(),
    ];
    const everything = async (): Promise<unknown> => [
      await test.rows('select * from webhooks.endpoint order by 1'),
      await test.rows('select * from webhooks.public_event order by 1'),
      await test.rows('select * from webhooks.delivery order by 1'),
      await test.rows('select * from webhooks.settled_delivery order by 1'),
      await test.rows('select * from webhooks.unreleased_failure order by 1'),
    ];
    await test.handle(...batch);
    const once = await everything();
    await test.handle(...batch);
    for (const event of batch) await test.handle(event);
    expect(await everything()).toEqual(once);
  });

  it('places events that come late, because their stream was parked, at the end of the feed', async () => {
    const [parked, other] = [randomUUID(), randomUUID()];
    const waiting = [reading(parked).completed(), reading(parked).published()];
    const later = reading(other).completed();
    await test.handle(A.created(), later);
    await test.handle(...waiting);
    const feed = await test.rows<{ reading_id: string; type: string; sequence: number; position: string }>(
      'select reading_id, type, sequence, position from webhooks.public_event order by position',
    );
    expect(feed).toMatchObject([
      { reading_id: other, position: String(later.position) },
      { reading_id: parked, type: 'reading.completed', sequence: 1 },
      { reading_id: parked, type: 'reading.published', sequence: 2 },
    ]);
  });

  it('keeps the order of the log in the feed: what follows a release in its batch is placed behind it', async () => {
    const [failed, release] = failure(randomUUID());
    const later = reading(randomUUID()).completed();
    await test.handle(A.created(), failed, release, later);
    const feed = await test.rows('select type, position from webhooks.public_event order by position');
    expect(feed).toEqual([
      { type: 'reading.failed', position: String(release.position) },
      { type: 'reading.completed', position: String(later.position) },
    ]);
  });

  it('keeps the request that caused each event, also of a failure that waited for its release', async () => {
    await test.handle(A.created(), reading(randomUUID()).completed(), ...failure(randomUUID()));
    const requests = await test.rows(
      'select type, correlation_id from webhooks.public_event order by position',
    );
    expect(requests).toEqual([
      { type: 'reading.completed', correlation_id: 'req_test' },
      { type: 'reading.failed', correlation_id: 'req_test' },
    ]);
  });

  it('sets aside the release of a failed reading that is parked, and no other release', () => {
    const consumer = fanOutConsumer(0);
    const id = randomUUID();
    const keys = failure(id).map((event) => consumer.keyOf!(event));
    expect(new Set(keys)).toEqual(new Set([id]));
  });

  it('gives the same rows event by event as in one batch', async () => {
    const [id, failing] = [randomUUID(), randomUUID()];
    const batch = [
      A.created(),
      reading(id).delayed(),
      reading(failing).delayed(),
      reading(id).completed(),
      ...failure(failing),
      reading(id).published(),
    ];
    await test.handle(...batch);
    const inOne = [await test.deliveries(), await test.bodies()];
    await test.database.pool.query(
      'truncate webhooks.endpoint, webhooks.public_event, webhooks.delivery, webhooks.settled_delivery',
    );
    for (const event of batch) await test.handle(event);
    expect([await test.deliveries(), await test.bodies()]).toEqual(inOne);
  });

  it('numbers the events of a reading from 1 without a gap', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await test.handle(A.created(), reading(one).delayed(), reading(two).completed());
    await test.handle(reading(one).completed(), reading(one).published(), reading(two).published());
    const numbered = await test.rows<{ reading_id: string; sequences: number[] }>(
      'select reading_id, array_agg(sequence order by occurred_at, sequence) as sequences from webhooks.public_event group by 1',
    );
    expect(Object.fromEntries(numbered.map(({ reading_id, sequences }) => [reading_id, sequences]))).toEqual({
      [one]: [1, 2, 3],
      [two]: [1, 2],
    });
  });

  it('writes the body byte for byte as documented', async () => {
    const id = '5b0f7a4e-6c0d-4c59-9d9c-3d7a1f2e8b11';
    await test.handle(reading(id).completed(), reading(id).published());
    const [completed, published] = (await test.bodies()) as [string, string];
    const { id: eventId } = JSON.parse(published) as { id: string };
    expect(eventId).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(published).toBe(
      `{"id":"${eventId}","type":"reading.published","apiVersion":"v1","createdAt":"2026-04-04T09:30:00.000Z",` +
        `"workspaceId":"ws_1","livemode":true,"readingId":"${id}","sequence":2,"data":{"status":"completed",` +
        '"document":{"available":true,"version":1,"artifactId":"art_1","publishedAt":"2026-04-04T09:31:00.000Z"},' +
        `"error":null,"links":{"reading":"/api/v1/readings/${id}","result":"/api/v1/readings/${id}/result",` +
        `"document":"/api/v1/readings/${id}/document?format=document_v1",` +
        `"markdown":"/api/v1/readings/${id}/document?format=markdown",` +
        `"pdf":"/api/v1/readings/${id}/document?format=pdf"}},"externalId":null}`,
    );
    expect(JSON.parse(completed)).toMatchObject({
      sequence: 1,
      data: { document: { available: false, version: null, artifactId: null, publishedAt: null } },
    });
  });

  it('shows the external id as its workspace chose by then, and stores none', async () => {
    const [plain, referenced] = [randomUUID(), randomUUID()];
    const { pool } = test.database;
    await pool.query(
      `insert into platform.subject_key (subject_id, workspace_id, wrapped_key, lookups)
       values ($1, 'ws_1', '', null), ($2, 'ws_1', '', '{x}')`,
      [plain, referenced],
    );
    await test.handle(reading(plain).completed(), reading(referenced).completed());
    await pool.query(`insert into webhooks.content values ('ws_1', false)`);
    await test.handle(reading(plain).published(), reading(referenced).published());
    const stored = await test.rows<{ body: string; shows: boolean; of_plain: boolean; type: string }>(
      `select type, reading_id = '${plain}' as of_plain, shows_external_id as shows, body from webhooks.public_event`,
    );
    const shown = stored.map(({ type, of_plain, shows, body }) => [
      type,
      of_plain ? 'plain' : 'referenced',
      shows,
      (JSON.parse(body) as { externalId?: null }).externalId,
    ]);
    expect(shown.sort()).toEqual([
      ['reading.completed', 'plain', false, null],
      ['reading.completed', 'referenced', true, undefined],
      ['reading.published', 'plain', false, undefined],
      ['reading.published', 'referenced', false, undefined],
    ]);
    await pool.query('truncate webhooks.content');
  });

  it('forgets the answers to the events of a reading that is erased, also of settled deliveries', async () => {
    const [erased, other] = [randomUUID(), randomUUID()];
    const { pool } = test.database;
    await test.handle(A.created(), reading(erased).completed(), reading(other).completed());
    await pool.query(
      `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                              created_at, settled_at, started_at, answer)
       select gen_random_uuid(), endpoint_id, event_id, 'succeeded', 1, false, true, now(), now(), now(), 'sealed'
       from webhooks.delivery`,
    );
    await pool.query(
      `insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, answer, endpoint_id)
       select delivery_id, 1, now(), 1, 200, 'sealed', endpoint_id from webhooks.delivery`,
    );
    await test.handle(stored(`reading-${erased}`, 3, 'ReadingErased', { workspaceId: 'ws_1' }));
    const left = await test.rows(
      `select event.reading_id, 'pending' as of from webhooks.attempt join webhooks.delivery using (delivery_id)
       join webhooks.public_event event using (event_id) where answer is not null
       union all
       select event.reading_id, 'settled' from webhooks.settled_delivery join webhooks.public_event event using (event_id)
       where answer is not null order by 2`,
    );
    expect(left).toEqual([
      { reading_id: other, of: 'pending' },
      { reading_id: other, of: 'settled' },
    ]);
    await test.database.pool.query('truncate webhooks.attempt');
  });

  it.each([
    ['queued', 'before its first attempt', 0],
    ['processing', 'once it has started', 1],
  ])('says that a delayed reading is %s %s', async (status, _, attempts) => {
    await test.handle(reading(randomUUID()).delayed(attempts));
    expect((await test.bodies()).map((body) => JSON.parse(body) as object)).toMatchObject([
      { data: { status } },
    ]);
  });

  it('makes a delivery wait as long as the earlier one it must follow', async () => {
    const id = randomUUID();
    await test.handle(A.created(), reading(id).completed());
    await test.database.pool.query(`update webhooks.delivery set due_at = '2026-04-04T12:00:00Z'`);
    await test.handle(reading(id).published());
    const due = await test.rows<{ due_at: Date }>('select due_at from webhooks.delivery order by sequence');
    expect(due.map(({ due_at }) => due_at.toISOString())).toEqual([
      '2026-04-04T12:00:00.000Z',
      '2026-04-04T12:00:00.000Z',
    ]);
  });

  it('makes no delivery wait for a redelivery, which is outside the order', async () => {
    const id = randomUUID();
    await test.handle(A.created(), reading(id).completed());
    await test.database.pool.query(
      `update webhooks.delivery set redelivery = true, due_at = '2036-04-04T12:00:00Z'`,
    );
    const published = reading(id).published();
    await test.handle(published);
    const due = await test.rows<{ due_at: Date }>(
      'select due_at from webhooks.delivery where not redelivery',
    );
    expect(due.map(({ due_at }) => due_at.toISOString())).toEqual([published.metadata.occurredAt]);
  });

  it('stays under 8 KiB', async () => {
    await test.handle(...failure(randomUUID()), reading(randomUUID()).published());
    for (const body of await test.bodies()) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(8_192);
  });
});
