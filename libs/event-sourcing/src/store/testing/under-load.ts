import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { addedToAppend } from '../../testing/tally.js';
import { StoreUnavailable } from '../errors.js';
import type { EventStore } from '../event-store.js';
import { newStream } from './store-under-test.js';

const AGAIN_MS = 20;
/** How long a test waits for a condition without a promised time. */
const PATIENCE_MS = 300_000;

/** @throws Error when the condition does not come true */
export const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Not within ${PATIENCE_MS} ms: ${String(condition)}`);
    await delay(5);
  }
};

/** A writer of a stream, who reads before each append, and a follower. Both try again while the store is away. */
export interface Load {
  /** Ids of the acknowledged events, in order. */
  readonly written: readonly string[];
  /** Ids of the followed events, in order. */
  readonly seen: readonly string[];
  /** Calls that failed as unavailable so far. */
  readonly failures: () => number;
  /** Resolves when so many more events are written and seen. It goes on then. Rejects when a call fails otherwise. */
  more(count: number): Promise<void>;
  /** Ends the writer until `more`, and resolves when everything is seen: then its subscription alone is open. */
  rest(): Promise<void>;
  /** Ends the writer, then the follower once it has seen everything. Its subscription stays open. */
  stop(): Promise<void>;
}

/** Appends one event after the other, each with the same id at the same revision until its outcome is known. */
export const startLoad = async (store: EventStore): Promise<Load> => {
  const stream = newStream();
  const [written, seen]: [string[], string[]] = [[], []];
  let [failures, resting, ended] = [0, false, false];
  let broken: Error | undefined;
  let writing = Promise.resolve();
  let closing = async (): Promise<void> => undefined;

  /** @returns whether to try again */
  const isAway = async (error: unknown): Promise<boolean> => {
    if (!(error instanceof StoreUnavailable)) {
      broken ??= error instanceof Error ? error : new Error(String(error));
      return false;
    }
    failures += 1;
    await delay(AGAIN_MS);
    return true;
  };

  const end = async (): Promise<bigint | null> => {
    for (;;) {
      try {
        return await store.head();
      } catch (error) {
        if (!(await isAway(error))) throw error;
      }
    }
  };
  const after = await end();

  const write = async (): Promise<void> => {
    while (!resting) {
      const event = addedToAppend(randomUUID(), 'r');
      const expected = written.length === 0 ? 'no_stream' : BigInt(written.length - 1);
      for (let again = true; again;) {
        try {
          for await (const _ of store.read(stream, { direction: 'backwards', limit: 1 }));
          await store.append(stream, expected, [event]);
          written.push(event.id);
          again = false;
        } catch (error) {
          if (!(await isAway(error))) return;
        }
      }
    }
  };
  const follow = async (): Promise<void> => {
    let position = after;
    while (!ended) {
      try {
        const subscription = store.subscribe({ after: position, categories: ['tally'] });
        closing = () => subscription.close();
        try {
          for await (const event of subscription) {
            position = event.position;
            if (event.stream === stream) seen.push(event.id);
          }
        } finally {
          await subscription.close();
        }
        if (!ended) failures += 1;
      } catch (error) {
        if (!(await isAway(error))) return;
      }
    }
  };
  const following = follow();
  writing = write();
  const reached = async (count: number): Promise<void> => {
    await until(() => broken !== undefined || (written.length >= count && seen.length >= count));
    if (broken) throw broken;
  };
  const rest = async (): Promise<void> => {
    resting = true;
    await writing;
    await reached(written.length);
  };
  return {
    written,
    seen,
    failures: () => failures,
    more: (count) => {
      if (resting) {
        resting = false;
        writing = write();
      }
      const wanted = Math.max(written.length, seen.length) + count;
      return reached(wanted);
    },
    rest,
    stop: async () => {
      await rest();
      ended = true;
      await closing();
      await following;
      if (broken) throw broken;
    },
  };
};
