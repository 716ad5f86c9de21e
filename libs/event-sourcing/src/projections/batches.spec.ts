import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoredEvent } from '../core/event.js';
import { addedToAppend } from '../testing/tally.js';
import { batches, type Batch } from './runner.js';

const stored = (position: number): StoredEvent => ({
  ...addedToAppend(`id${position}`, `r${position}`),
  stream: 'tally-1',
  revision: BigInt(position),
  position: BigInt(position),
});

const options = (changes: Partial<Parameters<typeof batches>[1]> = {}) => ({
  maximum: 3,
  spacingMs: 0,
  quietMs: 60_000,
  quietPosition: () => null,
  signal: new AbortController().signal,
  ...changes,
});

async function* of(count: number): AsyncGenerator<StoredEvent> {
  for (let position = 1; position <= count; position += 1) yield stored(position);
}

/** A source that the test feeds. */
const fed = () => {
  const waiting: StoredEvent[] = [];
  let wake = (): void => undefined;
  let end: { error?: Error } | null = null;
  return {
    push: (...positions: number[]) => {
      waiting.push(...positions.map(stored));
      wake();
    },
    finish: (error?: Error) => {
      end = error ? { error } : {};
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const event = waiting.shift();
        if (event) yield event;
        else if (end) {
          if (end.error) throw end.error;
          return;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
};

const positionsOf = ({ events }: Batch) => events.map(({ position }) => Number(position));

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
};

describe('batches', () => {
  it('delivers everything in order, never more than the maximum at a time', async () => {
    const sizes: number[] = [];
    const seen: number[] = [];
    for await (const batch of batches(of(1_000), options({ maximum: 7 }))) {
      sizes.push(batch.events.length);
      seen.push(...positionsOf(batch));
      expect(batch.position).toBe(BigInt(seen.at(-1)!));
      await nextTurn();
    }
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
    expect(Math.max(...sizes)).toBe(7);
  });

  it('holds the source back while a full batch waits, so that memory stays bounded', async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<StoredEvent> {
      // Bounded: without back-pressure, the test should fail instead of filling the memory.
      while (pulled < 10_000) yield stored((pulled += 1));
    }
    const stream = batches(endless(), options({ maximum: 5 }));
    await stream.next();
    for (let slow = 0; slow < 4; slow += 1) {
      await settled();
      // Those handled or being handled, a full batch waiting, and the one that the source is about to deliver.
      const before = pulled;
      await settled();
      expect(pulled).toBe(before);
      const { value } = await stream.next();
      expect(before - Number((value as Batch).position)).toBeLessThanOrEqual(5 + 1);
    }
    await stream.return(undefined);
  });

  it('delivers an event after a pause at once, and batches the ones that follow soon', async () => {
    const source = fed();
    const stream = batches(source, options({ maximum: 100, spacingMs: 500 }));
    const startedAt = performance.now();
    source.push(1);
    expect(positionsOf((await stream.next()).value as Batch)).toEqual([1]);
    const next = stream.next();
    for (const position of [2, 3, 4]) {
      source.push(position);
      await settled();
    }
    expect(positionsOf((await next).value as Batch)).toEqual([2, 3, 4]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(500);
    source.finish();
    expect((await stream.next()).done).toBe(true);
  });

  it('advances past events that it does not follow while quiet, once per position', async () => {
    const source = fed();
    let quiet: bigint | null = null;
    const stream = batches(source, options({ quietMs: 5, quietPosition: () => quiet }));
    source.push(1);
    expect(positionsOf((await stream.next()).value as Batch)).toEqual([1]);
    quiet = 50n;
    expect((await stream.next()).value).toEqual({ events: [], position: 50n });
    const next = stream.next();
    await settled();
    source.push(60);
    // Nothing in between: 50 was reported already.
    expect((await next).value).toMatchObject({ position: 60n, events: [{ position: 60n }] });
    await stream.return(undefined);
  });

  it('does not move the checkpoint past events that a failed source did not deliver', async () => {
    const source = fed();
    let quiet: bigint | null = null;
    const stream = batches(source, options({ quietPosition: () => quiet }));
    source.push(1);
    await stream.next();
    const next = stream.next();
    await settled();
    // The server reported position 9, but the connection failed before it delivered 2 to 9.
    quiet = 9n;
    source.finish(new Error('connection lost'));
    await expect(next).rejects.toThrow('connection lost');
  });

  it('ends on abort, while it waits for the source and while the source waits for it', async () => {
    for (const source of [fed(), of(1_000)]) {
      const abort = new AbortController();
      const stream = batches(source, options({ signal: abort.signal }));
      const seen: Batch[] = [];
      const reading = (async () => {
        for await (const batch of stream) {
          seen.push(batch);
          abort.abort();
        }
      })();
      await settled();
      abort.abort();
      await reading;
      expect(seen.length).toBeLessThanOrEqual(1);
    }
  });
});
