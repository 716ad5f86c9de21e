import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  endpoint,
  failure,
  reading,
  stored,
  secretRef,
  batchEnded,
  released,
  testReleased,
} from '../../test/events.js';
import { fanningOut } from '../../test/fanning-out.js';
import { fanOutConsumer } from './fan-out.consumer.js';
import { ALL_DELIVERIES } from '../read-models/delivery-sql.js';
import { skipNext } from './skip-pending.js';

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

  it('sets aside the release of a failed reading that is parked, and no other release', () => {
    const consumer = fanOutConsumer(0);
    const id = randomUUID();
    const keys = failure(id).map((event) => consumer.keyOf!(event));
    expect(new Set(keys)).toEqual(new Set([id]));
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

  it.each([
    ['queued', 'before its first attempt', 0],
    ['processing', 'once it has started', 1],
  ])('says that a delayed reading is %s %s', async (status, _, attempts) => {
    await test.handle(reading(randomUUID()).delayed(attempts));
    expect((await test.bodies()).map((body) => JSON.parse(body) as object)).toMatchObject([
      { data: { status } },
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
});

describe('An endpoint in the fan-out', () => {
  it('resets the failures of an endpoint that moves, and of no other', async () => {
    await test.handle(A.created(), B.created());
    await test.database.pool.query(
      `insert into webhooks.endpoint_health values ('we_a', 12, now(), now()), ('we_b', 3, now(), null)`,
    );
    await test.handle(B.updated(1, { description: 'the same place' }));
    await test.handle(A.updated(1, { url: 'https://moved.example/' }));
    expect(await test.rows('select endpoint_id, consecutive_failures from webhooks.endpoint_health')).toEqual(
      [{ endpoint_id: 'we_b', consecutive_failures: 3 }],
    );
  });

  it('destroys the secrets of a deleted endpoint and sends it nothing more', async () => {
    await test.handle(A.created(), reading(randomUUID()).completed());
    await test.database.pool.query(
      `insert into webhooks.secret values ($1, 'we_a', 'ws_1', '\\x00', 'hint', now())`,
      [secretRef(1)],
    );
    await test.handle(A.deleted(1), reading(randomUUID()).completed());
    await skipNext(test.database.pool);
    expect(await test.rows('select * from webhooks.secret')).toEqual([]);
    expect((await test.deliveries()).map(({ status }) => status)).toEqual(['skipped']);
  });
});

const asked = (id: string, settings: object = {}) =>
  endpoint(id).created({ notices: ['batch.ended'], ...settings });
const told = () =>
  test.rows<{ endpoint_id: string; status: string }>(
    `select endpoint_id, status from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id)
     where event.type = 'batch.ended' order by endpoint_id`,
  );

describe('A notice', () => {
  it('goes to the endpoints that asked for it by then, of its mode', async () => {
    await test.handle(
      asked('we_a'),
      asked('we_test', { modes: ['test'] }),
      asked('we_both', { modes: ['live', 'test'] }),
      asked('we_other', { workspaceId: 'ws_other' }),
      endpoint('we_unasked').created(),
      batchEnded(randomUUID()),
      asked('we_late'),
    );
    expect((await told()).map(({ endpoint_id: id }) => id)).toEqual(['we_a', 'we_both']);
    await test.handle(batchEnded(randomUUID(), { livemode: false }));
    const all = (await told()).map(({ endpoint_id: id }) => id);
    expect(all).toEqual(['we_a', 'we_both', 'we_both', 'we_test']);
  });

  it('is one, however often its event is handled', async () => {
    const ended = batchEnded(randomUUID());
    await test.handle(asked('we_a'), ended);
    await test.handle(ended, ended);
    expect(await told()).toEqual([{ endpoint_id: 'we_a', status: 'pending' }]);
    await test.handle(asked('we_late'), ended);
    expect(await told()).toHaveLength(1);
  });

  it('says which batch ended and how its readings did, and has no place among the events', async () => {
    const [id, batchId] = [randomUUID(), '0d9b7c1e-2f64-8a35-9c1d-6e0f4b2a7d18'];
    const completed = reading(id).completed();
    await test.handle(asked('we_a'), batchEnded(batchId), completed, batchEnded(randomUUID()));
    const [first] = await test.rows<{ body: string; event_id: string }>(
      `select body, event_id from webhooks.public_event where body like '%${batchId}%'`,
    );
    expect(first!.body).toBe(
      `{"id":"${first!.event_id}","type":"batch.ended","apiVersion":"v1","createdAt":"2026-04-04T09:30:00.000Z",` +
        `"workspaceId":"ws_1","livemode":true,"batchId":"${batchId}","data":{"endedAt":"2026-04-04T09:30:00.000Z",` +
        '"counts":{"items":3,"refused":1,"published":1,"failed":1,"erased":0,"notAccepted":0},' +
        `"links":{"batch":"/api/v1/batches/${batchId}"}}}`,
    );
    expect(first!.event_id).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-5/);
    const feed = await test.rows(
      'select type, position from webhooks.public_event where position is not null',
    );
    expect(feed).toEqual([{ type: 'reading.completed', position: String(completed.position) }]);
  });
});

describe('The failure of a reading', () => {
  it('is sent once, after its credits are released, whatever is repeated', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const failed = reading(id).failed();
    const release = released(failed);
    const sent = () =>
      test.rows<{ reading_id: string; type: string; position: string }>(
        'select reading_id, type, position from webhooks.public_event order by position',
      );
    await test.handle(A.created(), reading(id).delayed(0, { position: failed.position - 1n }), failed);
    const inNoWay = [{ reading_id: id, type: 'reading.delayed', position: String(failed.position - 1n) }];
    expect(await sent()).toEqual(inNoWay);
    await test.handle(failed);
    const between = reading(other).completed({ position: release.position - 1n });
    await test.handle(between);

    const after = [
      ...inNoWay,
      { reading_id: other, type: 'reading.completed', position: String(between.position) },
      { reading_id: id, type: 'reading.failed', position: String(release.position) },
    ];
    for (const batch of [[release], [release], [failed], [failed, release]]) {
      await test.handle(...batch);
      expect(await sent()).toEqual(after);
    }
    expect((await test.deliveries()).filter(({ type }) => type === 'reading.failed')).toEqual([
      { endpoint_id: 'we_a', type: 'reading.failed', status: 'pending', sequence: 2 },
    ]);
  });

  it('is sent after a test book has released its test credits', async () => {
    const failed = reading(randomUUID()).failed();
    await test.handle(A.created(), failed);
    expect(await test.deliveries()).toEqual([]);
    await test.handle(testReleased(failed));
    expect((await test.deliveries()).map(({ type }) => type)).toEqual(['reading.failed']);
  });

  it('goes to the endpoints that existed before the release', async () => {
    const [failed, release] = failure(randomUUID());
    await test.handle(A.created(), failed, B.created(), release, endpoint('we_c').created());
    expect((await test.deliveries()).map(({ endpoint_id }) => endpoint_id)).toEqual(['we_a', 'we_b']);
  });

  it('is released by no other event of a credit book', async () => {
    await test.handle(stored('credits-ws_1', 0, 'PeriodClosed', { of: 'a later version' }));
    await test.handle(stored('testbook-ws_1', 0, 'PeriodClosed', { of: 'a later version' }));
    expect(await test.bodies()).toEqual([]);
  });
});

it('An erasure is no work for the fan-out, which everybody shares: the key of a reading ends its responses', () => {
  const erased = stored(`reading-${randomUUID()}`, 5, 'ReadingErased', { workspaceId: 'ws_1' });
  expect(fanOutConsumer(0).steps([erased])).toEqual([]);
});
