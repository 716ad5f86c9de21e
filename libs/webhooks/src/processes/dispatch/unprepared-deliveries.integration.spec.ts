import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually } from '../../../test/receiver.js';

const test = dispatching();

/** A reading with an external id. */
const referenced = async (): Promise<string> => {
  const readingId = randomUUID();
  await test.database.pool.query(
    `insert into platform.subject_key (subject_id, workspace_id, wrapped_key, lookups) values ($1, 'ws_1', '', '{x}')`,
    [readingId],
  );
  return readingId;
};

describe('Deliveries whose keys cannot be had', () => {
  it('hold up no other delivery of their endpoint, and are sent once the keys are back', async () => {
    let isAway = true;
    // A lease that ends long after this test.
    test.start({
      settings: { WEBHOOK_LEASE_MS: '3600000' },
      externalId: () => {
        if (isAway) throw new KeysUnavailable('the key of an epoch is lost');
        return 'order-4711';
      },
    });
    await test.service.create(test.receiver.url);
    const unreadable = await Promise.all(Array.from({ length: 6 }, referenced));
    for (const readingId of unreadable)
      await test.service.happen(reading(readingId).completed(), reading(readingId).published());
    await test.service.happen(...[1, 2, 3].map(() => reading(randomUUID()).completed()));
    await eventually(() => test.receiver.received.length === 3, 20_000);
    // Put off more than once by now, or about to be: none is a failed attempt.
    // The first of each reading. Its second one waits for it, whether it came before the first was put off or after.
    await eventually(async () => {
      const { rows } = await test.database.pool.query(
        `select distinct reading_id from webhooks.delivery
          where attempts = 0 and due_at > created_at + interval '1 second'`,
      );
      return rows.length === 6;
    });
    isAway = false;
    await test.database.pool.query('update webhooks.delivery set due_at = now()');
    await test.service.idle();
    await test.settled(15);
    expect(await test.service.attempts()).toHaveLength(15);
  });
});
