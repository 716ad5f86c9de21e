import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { endpoint, failure, reading, released, stored, testReleased } from '../../../test/events.js';
import { fanningOut } from '../../../test/fanning-out.js';

const test = fanningOut();
const A = endpoint('we_a');
const B = endpoint('we_b');

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

  it('is not sent when the credits of an abandoned request are released', async () => {
    const abandoned = stored(`reading-${randomUUID()}`, 0, 'ReadingAbandoned', {
      workspaceId: 'ws_1',
      livemode: true,
      reservationId: 'r',
      reason: 'late',
    });
    await test.handle(A.created(), abandoned, released(abandoned));
    expect(await test.bodies()).toEqual([]);
  });

  it('is released by no other event of a credit book', async () => {
    await test.handle(stored('credits-ws_1', 0, 'PeriodClosed', { of: 'a later version' }));
    await test.handle(stored('testbook-ws_1', 0, 'PeriodClosed', { of: 'a later version' }));
    expect(await test.bodies()).toEqual([]);
  });

  it('says why the reading failed, and when', async () => {
    await test.handle(...failure(randomUUID()));
    const [failed] = (await test.bodies()) as [string];
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
});
