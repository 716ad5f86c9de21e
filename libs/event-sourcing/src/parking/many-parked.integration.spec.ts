import { expect, it } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { Consumer } from '../projections/consumer.js';
import { consumersUnderTest, recording } from '../projections/testing/consumers-under-test.js';
import { askForRetry, parkedStreams } from './parked-streams.js';

const consumers = consumersUnderTest();
const { start, eventually, append, caughtUp, appliedIds, logIds } = consumers;

const STREAMS = 40;

it('streams that one event keeps parked are written once when they are released, not once for each other', async () => {
  const { pool } = consumers;
  const state = { mended: false };
  const book = { stream: 'book-1', revision: 3n, type: 'Torn' };
  const reading: Consumer = {
    ...recording,
    steps(events) {
      if (!state.mended) throw new CorruptEvent(book, 'no');
      return recording.steps(events);
    },
  };
  await append(...Array.from({ length: STREAMS }, (_, nr) => `s${nr}`));
  start(reading, { retryParkedMs: 3_600_000 });
  await caughtUp(reading.name);
  expect(await parkedStreams(pool, reading.name)).toHaveLength(STREAMS);
  await pool.query(`
    create table if not exists written (nr serial);
    create or replace function note_written() returns trigger language plpgsql as
      $$ begin insert into written default values; return null; end $$;
    create or replace trigger parked_written after update on event_sourcing.parked_stream
      for each row execute function note_written()`);
  state.mended = true;
  await askForRetry(pool, reading.name);
  await eventually(async () => (await parkedStreams(pool, reading.name)).length === 0);
  expect((await appliedIds()).toSorted()).toEqual(logIds().toSorted());
  const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from written');
  expect(rows[0]!.n).toBe(STREAMS);
});
