import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { endpoint, reading, secretRef } from '../../../test/events.js';
import { fanningOut } from '../../../test/fanning-out.js';
import { ALL_DELIVERIES } from '../../read-models/delivery-sql.js';
import { skipNext } from '../skip-pending.js';

const test = fanningOut();
const A = endpoint('we_a');
const B = endpoint('we_b');

describe('An endpoint in the fan-out', () => {
  it('records deliveries to a disabled endpoint as skipped, and sends none of them once it is enabled', async () => {
    const [before, during, after] = [randomUUID(), randomUUID(), randomUUID()];
    await test.handle(A.created(), reading(before).completed(), A.disabled(1), reading(during).completed());
    await test.handle(A.enabled(2), reading(after).completed());
    await skipNext(test.database.pool);
    const status = Object.fromEntries(
      (
        await test.rows<{ reading_id: string; status: string }>(
          `select reading_id, status from ${ALL_DELIVERIES} join webhooks.public_event using (event_id)`,
        )
      ).map(({ reading_id, status }) => [reading_id, status]),
    );
    expect(status).toEqual({ [before]: 'skipped', [during]: 'skipped', [after]: 'pending' });
  });

  it('resets the failures of an endpoint that is enabled again', async () => {
    await test.handle(A.created(), A.disabled(1));
    await test.database.pool.query(`insert into webhooks.endpoint_health values ('we_a', 12, now(), now())`);
    await test.handle(A.enabled(2));
    expect(await test.rows('select * from webhooks.endpoint_health')).toEqual([]);
    expect(await test.endpointRow()).toMatchObject({ enabled: true, disabled_reason: null });
  });

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

  it('keeps the newest secret and two old ones', async () => {
    const ends = [5, 6, 7].map((day) => `2026-04-0${day}T00:00:00.000Z`) as [string, string, string];
    await test.handle(A.created(), ...ends.map((end, index) => A.rotated(index + 1, index + 2, end)));
    expect((await test.endpointRow())['secrets']).toEqual([
      { ref: secretRef(4), validUntil: null },
      { ref: secretRef(3), validUntil: ends[2] },
      { ref: secretRef(2), validUntil: ends[1] },
    ]);
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
