import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { runSteps } from '@app/event-sourcing/projections/statement.js';
import { transaction } from '@app/platform/postgres/pool.js';
import { endpoint, failure, reading, released, secretRef, stored } from '../../../test/events.js';
import { startDatabase, type TestDatabase } from '../../../test/postgres.js';
import { fanOutConsumer } from './fan-out.consumer.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(async () => database.stop());
beforeEach(async () => {
  await database.pool.query(
    'truncate webhooks.endpoint, webhooks.endpoint_health, webhooks.public_event, webhooks.delivery, webhooks.secret, webhooks.lane, webhooks.unreleased_failure',
  );
});

const consumer = fanOutConsumer(0);
const handle = (...batch: readonly StoredEvent[]): Promise<void> =>
  transaction(database.pool, (client) => runSteps(client, consumer.steps(batch)));
const rows = async <Row extends object>(text: string): Promise<Row[]> =>
  (await database.pool.query<Row>(text)).rows;
const deliveries = () =>
  rows<{ endpoint_id: string; type: string; status: string; sequence: number }>(
    `select delivery.endpoint_id, event.type, delivery.status, delivery.sequence
     from webhooks.delivery join webhooks.public_event event using (event_id)
     order by delivery.endpoint_id, event.reading_id, delivery.sequence`,
  );
const bodies = async (): Promise<string[]> =>
  (await rows<{ body: string }>('select body from webhooks.public_event order by reading_id, sequence')).map(
    ({ body }) => body,
  );
const endpointRow = async () => (await rows<Record<string, unknown>>('select * from webhooks.endpoint'))[0]!;

const A = endpoint('we_a');
const B = endpoint('we_b');

describe('The fan-out', () => {
  it('adds a delivery for each endpoint of the workspace that subscribes to the type', async () => {
    const id = randomUUID();
    await handle(
      A.created(),
      B.created({ events: ['reading.published'] }),
      endpoint('we_c').created({ workspaceId: 'ws_other' }),
      reading(id).completed(),
      reading(id).published(),
    );
    expect(await deliveries()).toEqual([
      { endpoint_id: 'we_a', type: 'reading.completed', status: 'pending', sequence: 1 },
      { endpoint_id: 'we_a', type: 'reading.published', status: 'pending', sequence: 2 },
      { endpoint_id: 'we_b', type: 'reading.published', status: 'pending', sequence: 2 },
    ]);
  });

  it('sends an event to the endpoints that were there before it in the log, and to no other', async () => {
    const [before, after] = [randomUUID(), randomUUID()];
    await handle(reading(before).completed(), A.created(), reading(after).completed());
    const told = await rows<{ reading_id: string }>('select reading_id from webhooks.delivery');
    expect(told).toEqual([{ reading_id: after }]);
    expect(await bodies()).toHaveLength(2);
  });

  it('changes nothing when a batch comes again, whole or in other pieces', async () => {
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
      await rows('select * from webhooks.endpoint order by 1'),
      await rows('select * from webhooks.public_event order by 1'),
      await rows('select * from webhooks.delivery order by 1'),
      await rows('select * from webhooks.unreleased_failure order by 1'),
    ];
    await handle(...batch);
    const once = await everything();
    await handle(...batch);
    for (const event of batch) await handle(event);
    expect(await everything()).toEqual(once);
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
    await handle(...batch);
    const inOne = [await deliveries(), await bodies()];
    await database.pool.query('truncate webhooks.endpoint, webhooks.public_event, webhooks.delivery');
    for (const event of batch) await handle(event);
    expect([await deliveries(), await bodies()]).toEqual(inOne);
  });

  it('numbers the events of a reading from 1 without a gap', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await handle(A.created(), reading(one).delayed(), reading(two).completed());
    await handle(reading(one).completed(), reading(one).published(), reading(two).published());
    const numbered = await rows<{ reading_id: string; sequences: number[] }>(
      'select reading_id, array_agg(sequence order by occurred_at, sequence) as sequences from webhooks.public_event group by 1',
    );
    expect(Object.fromEntries(numbered.map(({ reading_id, sequences }) => [reading_id, sequences]))).toEqual({
      [one]: [1, 2, 3],
      [two]: [1, 2],
    });
  });

  it('writes the body byte for byte as documented', async () => {
    const id = '5b0f7a4e-6c0d-4c59-9d9c-3d7a1f2e8b11';
    await handle(reading(id).completed(), reading(id).published());
    const [completed, published] = (await bodies()) as [string, string];
    const { id: eventId } = JSON.parse(published) as { id: string };
    expect(eventId).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(published).toBe(
      `{"id":"${eventId}","type":"reading.published","apiVersion":"v1","createdAt":"2026-04-04T09:30:00.000Z",` +
        `"workspaceId":"ws_1","readingId":"${id}","sequence":2,"data":{"status":"completed",` +
        '"document":{"available":true,"version":1,"artifactId":"art_1","publishedAt":"2026-04-04T09:31:00.000Z"},' +
        `"error":null,"links":{"reading":"/api/v1/readings/${id}","result":"/api/v1/readings/${id}/result",` +
        `"document":"/api/v1/readings/${id}/document"}}}`,
    );
    expect(JSON.parse(completed)).toMatchObject({
      sequence: 1,
      data: { document: { available: false, version: null, artifactId: null, publishedAt: null } },
    });
  });

  it('tells that a reading failed once its credits are released, whatever comes twice', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const failed = reading(id).failed();
    const release = released(failed);
    const told = () =>
      rows<{ reading_id: string; type: string; position: string }>(
        'select reading_id, type, position from webhooks.public_event order by position',
      );
    await handle(A.created(), reading(id).delayed({ position: failed.position - 1n }), failed);
    const inNoWay = [{ reading_id: id, type: 'reading.delayed', position: String(failed.position - 1n) }];
    expect(await told()).toEqual(inNoWay);
    await handle(failed);
    const between = reading(other).completed({ position: release.position - 1n });
    await handle(between);

    const after = [
      ...inNoWay,
      { reading_id: other, type: 'reading.completed', position: String(between.position) },
      { reading_id: id, type: 'reading.failed', position: String(release.position) },
    ];
    for (const batch of [[release], [release], [failed], [failed, release]]) {
      await handle(...batch);
      expect(await told()).toEqual(after);
    }
    expect((await deliveries()).filter(({ type }) => type === 'reading.failed')).toEqual([
      { endpoint_id: 'we_a', type: 'reading.failed', status: 'pending', sequence: 2 },
    ]);
  });

  it('tells of a failure to the endpoints that were there before the release', async () => {
    const [failed, release] = failure(randomUUID());
    await handle(A.created(), failed, B.created(), release, endpoint('we_c').created());
    expect((await deliveries()).map(({ endpoint_id }) => endpoint_id)).toEqual(['we_a', 'we_b']);
  });

  it('tells nothing when the credits of an abandoned request are released', async () => {
    const abandoned = stored(`reading-${randomUUID()}`, 0, 'ReadingAbandoned', {
      workspaceId: 'ws_1',
      reservationId: 'r',
      reason: 'late',
    });
    await handle(A.created(), abandoned, released(abandoned));
    expect(await bodies()).toEqual([]);
  });

  it('reads no other event of a book', async () => {
    await handle(stored('credits-ws_1', 0, 'PeriodClosed', { of: 'a later version' }));
    expect(await bodies()).toEqual([]);
  });

  it('tells why a reading failed, and when', async () => {
    await handle(...failure(randomUUID()));
    const [failed] = (await bodies()) as [string];
    expect(JSON.parse(failed)).toMatchObject({
      type: 'reading.failed',
      createdAt: '2026-04-04T09:30:00.000Z',
      data: {
        status: 'failed',
        error: {
          code: 'input_unprocessable',
          title: 'The input cannot be processed',
          retryable: false,
          occurredAt: '2026-04-04T09:30:00.000Z',
        },
      },
    });
  });

  it.each([
    ['queued', 'before its first attempt', { attempts: 0 }, 1, 2],
    ['queued', 'before its first attempt, after an abandoned request', { attempts: 0 }, 2, 2],
    ['processing', 'once it has begun', { attempts: 1 }, 2, 2],
    ['queued', 'right after its request, in the first version of the event', {}, 1, 1],
    ['processing', 'later, in the first version of the event', {}, 2, 1],
  ])('tells of a delayed reading that it is %s %s', async (status, _, data, revision, version) => {
    const stream = `reading-${randomUUID()}`;
    await handle(stored(stream, revision, 'ReadingDelayed', { workspaceId: 'ws_1', ...data }, { version }));
    expect((await bodies()).map((body) => JSON.parse(body) as object)).toMatchObject([{ data: { status } }]);
  });

  it('records deliveries to a disabled endpoint as skipped, and sends none of them once it is enabled', async () => {
    const [before, during, after] = [randomUUID(), randomUUID(), randomUUID()];
    await handle(A.created(), reading(before).completed(), A.disabled(1), reading(during).completed());
    await handle(A.enabled(2), reading(after).completed());
    const status = Object.fromEntries(
      (
        await rows<{ reading_id: string; status: string }>('select reading_id, status from webhooks.delivery')
      ).map(({ reading_id, status }) => [reading_id, status]),
    );
    expect(status).toEqual({ [before]: 'skipped', [during]: 'skipped', [after]: 'pending' });
  });

  it('forgets the failures of an endpoint that is enabled again', async () => {
    await handle(A.created(), A.disabled(1));
    await database.pool.query(`insert into webhooks.endpoint_health values ('we_a', 12, now(), now())`);
    await handle(A.enabled(2));
    expect(await rows('select * from webhooks.endpoint_health')).toEqual([]);
    expect(await endpointRow()).toMatchObject({ enabled: true, disabled_reason: null });
  });

  it('forgets the failures of an endpoint that moves, and of no other', async () => {
    await handle(A.created(), B.created());
    await database.pool.query(
      `insert into webhooks.endpoint_health values ('we_a', 12, now(), now()), ('we_b', 3, now(), null)`,
    );
    await handle(B.updated(1, { description: 'the same place' }));
    await handle(A.updated(1, { url: 'https://moved.example/' }));
    expect(await rows('select endpoint_id, consecutive_failures from webhooks.endpoint_health')).toEqual([
      { endpoint_id: 'we_b', consecutive_failures: 3 },
    ]);
  });

  it('keeps the newest secret and two old ones', async () => {
    const ends = [5, 6, 7].map((day) => `2026-04-0${day}T00:00:00.000Z`) as [string, string, string];
    await handle(A.created(), ...ends.map((end, index) => A.rotated(index + 1, index + 2, end)));
    expect((await endpointRow())['secrets']).toEqual([
      { ref: secretRef(4), validUntil: null },
      { ref: secretRef(3), validUntil: ends[2] },
      { ref: secretRef(2), validUntil: ends[1] },
    ]);
  });

  it('destroys the secrets of a deleted endpoint and sends it nothing more', async () => {
    await handle(A.created(), reading(randomUUID()).completed());
    await database.pool.query(
      `insert into webhooks.secret values ($1, 'we_a', 'ws_1', '\\x00', 'hint', now())`,
      [secretRef(1)],
    );
    await handle(A.deleted(1), reading(randomUUID()).completed());
    expect(await rows('select * from webhooks.secret')).toEqual([]);
    expect((await deliveries()).map(({ status }) => status)).toEqual(['skipped']);
  });

  it('makes a delivery wait as long as the earlier one it must follow', async () => {
    const id = randomUUID();
    await handle(A.created(), reading(id).completed());
    await database.pool.query(`update webhooks.delivery set due_at = '2026-04-04T12:00:00Z'`);
    await handle(reading(id).published());
    const due = await rows<{ due_at: Date }>('select due_at from webhooks.delivery order by sequence');
    expect(due.map(({ due_at }) => due_at.toISOString())).toEqual([
      '2026-04-04T12:00:00.000Z',
      '2026-04-04T12:00:00.000Z',
    ]);
  });

  it('stays under 8 KiB', async () => {
    await handle(...failure(randomUUID()), reading(randomUUID()).published());
    for (const body of await bodies()) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(8_192);
  });
});
