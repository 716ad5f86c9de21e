import { describe, expect, it } from '@jest/globals';
import { consumersUnderTest, recording, summing } from './testing/consumers-under-test.js';

const test = consumersUnderTest();

describe('a consumer whose table is missing', () => {
  it.each([
    ['a projection', summing(), 'total'],
    ['a process', recording, 'applied'],
  ])(
    '%s waits at its checkpoint, parks nothing, and resumes when the table is back',
    async (_, consumer, table) => {
      test.start(consumer);
      await test.append('a');
      await test.caughtUp(consumer.name);
      const before = (await test.checkpoint(consumer.name))!.position;

      await test.pool.query(`alter table ${table} rename to lost`);
      await test.append('a', 'b');
      await test.eventually(async () => test.logged.length > 0);
      expect(await test.checkpoint(consumer.name)).toMatchObject({ position: before, status: 'running' });
      const { rows } = await test.pool.query('select from event_sourcing.parked_stream');
      expect(rows).toHaveLength(0);

      await test.pool.query(`alter table lost rename to ${table}`);
      await test.caughtUp(consumer.name);
      if (table === 'total') expect(await test.totals()).toEqual({ a: 2, b: 1 });
      else expect(await test.appliedIds()).toEqual(test.logIds());
    },
  );
});
