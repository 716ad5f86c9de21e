import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { transaction } from '#platform/postgres/pool.js';
import { NEVER, SINCE, WS, replaying } from '../../../test/replaying.js';
import type { ReplayRecord } from '../../contracts/deliveries.js';
import { replayTask } from '../replay.js';

const test = replaying();

describe('POST …/replay', () => {
  it('returns its location, and adds its job in the same transaction', async () => {
    const endpointId = await test.endpoint();
    const { body, headers } = await test
      .ask(endpointId, { since: SINCE, types: ['reading.failed'] })
      .expect(202);
    const { replayId } = body as ReplayRecord;
    expect(headers['location']).toBe(`/api/v1/webhooks/${endpointId}/replays/${replayId}`);
    expect(body).toEqual({
      replayId,
      endpointId,
      since: '2026-04-01T00:00:00.000Z',
      until: expect.stringMatching(/Z$/),
      types: ['reading.failed'],
      modes: ['live'],
      statuses: ['missing', 'skipped', 'exhausted'],
      dryRun: false,
      state: 'queued',
      events: 0,
      progress: expect.any(Number),
      deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
      createdAt: expect.stringMatching(/Z$/),
      finishedAt: null,
    });
    const { rows } = await transaction(test.database.pool, (client) =>
      client.query<{ payload: object }>(
        'select payload from graphile_worker._private_jobs where payload ->> $1 = $2',
        ['replayId', replayId],
      ),
    );
    expect(rows).toHaveLength(1);
  });

  it('repeats the first answer to the same request under the same key, and answers another with 422', async () => {
    const endpointId = await test.endpoint();
    const key = { 'idempotency-key': 'again' };
    const first = await test.ask(endpointId, { since: SINCE }, key).expect(202);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    await replayTask(test.database.pool, { now: () => Date.now() }).handle(
      { replayId: (first.body as ReplayRecord).replayId },
      NEVER,
    );
    const second = await test.ask(endpointId, { since: SINCE }, key).expect(202);
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect(second.body).toEqual(first.body);
    expect((await test.ask(endpointId, { since: SINCE, dryRun: true }, key).expect(422)).body).toMatchObject({
      code: 'idempotency_key_reused',
    });
    const besides = await Promise.all(
      [1, 2, 3].map(() => test.ask(endpointId, { since: SINCE }, { 'idempotency-key': 'x' })),
    );
    expect(new Set(besides.map(({ body }) => (body as ReplayRecord).replayId)).size).toBe(1);
  });

  it.each([
    [{}, [{ pointer: '/since', code: 'required' }]],
    [{ since: 'yesterday' }, [{ pointer: '/since', code: 'invalid_value' }]],
    [{ since: '2026-02-30' }, [{ pointer: '/since', code: 'invalid_value' }]],
    [{ since: SINCE, until: SINCE }, [{ pointer: '/until', code: 'invalid_value' }]],
    [{ since: SINCE, until: null }, [{ pointer: '/until', code: 'invalid_type' }]],
    [{ since: SINCE, types: ['ping'] }, [{ pointer: '/types/0', code: 'unsupported_event_type' }]],
    [{ since: SINCE, types: [] }, [{ pointer: '/types', code: 'too_short' }]],
    [{ since: SINCE, statuses: ['pending'] }, [{ pointer: '/statuses/0', code: 'invalid_value' }]],
    [{ since: SINCE, dryRun: 'yes' }, [{ pointer: '/dryRun', code: 'invalid_type' }]],
    [{ since: SINCE, endpointId: 'we_1' }, [{ pointer: '/endpointId', code: 'unknown_field' }]],
  ])('refuses %j', async (body, errors) => {
    const response = await test.ask(await test.endpoint(), body).expect(400);
    expect(response.body).toMatchObject({ errors });
  });

  it('finds no replay under another endpoint', async () => {
    const [mine, other] = [await test.endpoint(), await test.endpoint()];
    const { replayId } = (await test.ask(mine, { since: SINCE }).expect(202)).body as ReplayRecord;
    for (const path of [
      `${other}/replays/${replayId}`,
      `${mine}/replays/nonsense`,
      `${mine}/replays/${randomUUID()}`,
    ])
      expect((await test.api.request('get', `/webhooks/${path}`, WS).expect(404)).body).toMatchObject({
        code: 'not_found',
      });
  });
});
