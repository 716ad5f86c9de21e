import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { batchEnded, endpoint, reading } from '../../../test/events.js';
import { fanningOut } from '../../../test/fanning-out.js';
import { ALL_DELIVERIES } from '../../read-models/delivery-sql.js';

const test = fanningOut();
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

  it('is recorded as skipped for a disabled endpoint', async () => {
    await test.handle(asked('we_a'), endpoint('we_a').disabled(1), batchEnded(randomUUID()));
    expect(await told()).toEqual([{ endpoint_id: 'we_a', status: 'skipped' }]);
  });
});
