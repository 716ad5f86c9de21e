import { describe, expect, it } from '@jest/globals';
import { command, processConsumer, statement, defineProcess } from '../processes/process.js';
import { CorruptEvent } from '../core/event-catalogue.js';
import { streamId } from '../core/stream-name.js';
import { intercept, type EventStore } from '../store/event-store.js';
import { tallyEvents } from '../testing/tally.js';
import type { Consumer } from './consumer.js';
import { sql } from './statement.js';
import { consumersUnderTest, recording, summing } from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();
const { start, eventually, append, checkpoint, caughtUp, totals, appliedIds, logIds } = consumers;

describe('a checkpoint beyond the end of the log', () => {
  it('keeps its consumer from starting, which says why', async () => {
    await append('a');
    await consumers.pool.query(
      `insert into event_sourcing.consumer (name, position, categories) values ('tally.applied', 1000, '{tally}')`,
    );
    start(recording);
    await eventually(async () =>
      consumers.logged.some(
        ({ level, reason }) => level === 'error' && /at 1000, beyond the end of the log/.test(String(reason)),
      ),
    );
    await append('b', 'c');
    expect(await appliedIds()).toEqual([]);
    await consumers.pool.query(
      `update event_sourcing.consumer set position = 100 where name = 'tally.applied'`,
    );
    await eventually(async () => (await appliedIds()).length === 2);
    expect(await appliedIds()).toEqual(logIds().slice(1));
  });
});

describe('a consumer', () => {
  it('applies history, then what is appended, and resumes from its checkpoint', async () => {
    await append('a', 'b', 'a');
    const first = start(summing());
    await caughtUp('tally.total.v1');
    await append('b', 'b');
    await caughtUp('tally.total.v1');
    await first.stop();
    await append('c');
    start(summing());
    await caughtUp('tally.total.v1');
    expect(await totals()).toEqual({ a: 2, b: 3, c: 1 });
    expect(await checkpoint('tally.total.v1')).toEqual({ position: '600', status: 'running', error: null });
  });

  it('passes over events that it does not follow, also after a restart', async () => {
    const shortIds: Consumer = { ...recording, follows: ({ stream }) => streamId(stream).length === 1 };
    await append('long', 'a', 'long');
    const first = start(shortIds);
    await caughtUp(recording.name);
    await append('longer');
    await first.stop();
    await append('b');
    start(shortIds);
    await caughtUp(recording.name);
    expect(await appliedIds()).toEqual([1, 4].map((place) => logIds()[place]));
  });

  it('that was born now does not fire the effects of history', async () => {
    await append('a', 'b');
    const seen: string[] = [];
    const born: Consumer = {
      ...recording,
      birth: 'now',
      dispatch: async (events) => void seen.push(...events.map(({ id }) => id)),
    };
    start(born);
    await eventually(async () => (await checkpoint(born.name)) !== undefined);
    await append('c');
    await caughtUp(born.name);
    expect(seen).toEqual([logIds()[2]]);
  });

  it('applies each event exactly once when two runners run it at the same time', async () => {
    await append(...Array.from({ length: 40 }, (_, index) => `s${index % 7}`));
    start(recording, { batchSize: 5 });
    start(recording, { batchSize: 3 });
    await append(...Array.from({ length: 40 }, (_, index) => `s${index % 7}`));
    await caughtUp(recording.name);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('opens again a subscription that says nothing while the log grows', async () => {
    await append('a');
    let opened = 0;
    const mute: EventStore = intercept(consumers.store, {
      subscribe: (request) => {
        opened += 1;
        if (opened > 1) return consumers.store.subscribe(request);
        let wake = (): void => undefined;
        const closed = new Promise<void>((resolve) => (wake = resolve));
        return {
          async *[Symbol.asyncIterator]() {
            await closed;
            yield* [];
          },
          close: async () => wake(),
        };
      },
    });
    start(recording, { store: mute, watchdogMs: 50 });
    await caughtUp(recording.name);
    // A machine that handles the event too slowly for the watchdog opens another.
    expect(opened).toBeGreaterThanOrEqual(2);
    expect(await appliedIds()).toEqual(logIds());
  });
});

describe('streams that one event keeps parked', () => {
  it('are tried one at a time, and each of them in the end', async () => {
    const attempts: string[] = [];
    let mended: string | null = null;
    const failing: Consumer = {
      ...recording,
      dispatch: async (events) => {
        attempts.push(...new Set(events.map(({ stream }) => stream)));
        if (mended === null || events[0]!.stream !== mended)
          throw new CorruptEvent({ stream: 'book', revision: 3n, type: 'Paid' }, 'wrong fields');
      },
    };
    const makeDue = () =>
      consumers.pool.query(`update event_sourcing.parked_stream set tried_at = now() - interval '1 hour'`);
    const notDue = () =>
      eventually(async () => {
        const { rows } = await consumers.pool.query<{ due: number }>(
          `select count(*)::int as due from event_sourcing.parked_stream where tried_at < now() - interval '1 minute'`,
        );
        return rows[0]!.due === 0;
      });
    await append('a', 'b', 'c');
    start(failing);
    await caughtUp(recording.name);
    attempts.length = 0;
    await makeDue();
    await notDue();
    // One attempt with all that waits of the stream, and one with its first event alone.
    expect(attempts).toHaveLength(2);
    expect(new Set(attempts).size).toBe(1);

    // Of the same cause, another stream than the one that is tried first may be handled by now.
    mended = attempts[0] === 'tally-a' ? 'tally-b' : 'tally-a';
    await eventually(async () => {
      await makeDue();
      return (await appliedIds()).length === 1;
    });
  });
});

describe('a process', () => {
  it('carries out commands at least once and statements exactly once, whatever fails on the way', async () => {
    const reacting = defineProcess({
      name: 'tally.process',
      catalogues: [tallyEvents],
      react: ({ id }) => [command(id), statement(sql`insert into applied (event_id) values (${id})`)],
    });
    const dispatched: string[] = [];
    let failures = 4;
    const consumer = processConsumer(reacting, async (id) => {
      dispatched.push(id);
      if (failures > 0) {
        failures -= 1;
        throw new RangeError('not yet');
      }
    });
    await append('a', 'b', 'c');
    start(consumer, { poisonAttempts: 6 });
    await caughtUp(consumer.name);
    expect(failures).toBe(0);
    expect(new Set(dispatched)).toEqual(new Set(logIds()));
    expect(await appliedIds()).toEqual(logIds());
  });
});
