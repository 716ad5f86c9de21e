import { describe, expect, it } from '@jest/globals';
import { CallSlots } from './read-stream.js';
import { StoreUnavailable } from './errors.js';

describe('slots of calls', () => {
  it('go to waiting calls in order as others are released', async () => {
    const slots = new CallSlots(2, 10_000);
    const [first] = [await slots.take(), await slots.take()];
    const served: string[] = [];
    const waiting = ['a', 'b'].map((name) => slots.take().then((release) => (served.push(name), release)));
    expect(slots.waiting).toBe(2);
    first();
    first();
    const a = await waiting[0]!;
    expect([served, slots.waiting]).toEqual([['a'], 1]);
    a();
    await waiting[1];
    expect(served).toEqual(['a', 'b']);
  });

  it('are refused as unavailable after too long a wait, without losing a slot', async () => {
    const slots = new CallSlots(1, 20);
    const release = await slots.take();
    await expect(slots.take()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(slots.waiting).toBe(0);
    release();
    (await slots.take())();
    (await slots.take())();
  });

  it('refuse further calls at once when too many wait', async () => {
    const slots = new CallSlots(1, 60_000);
    const release = await slots.take();
    const waiting = Array.from({ length: 50 }, () => slots.take().then((mine) => mine()));
    await expect(slots.take()).rejects.toBeInstanceOf(StoreUnavailable);
    release();
    await Promise.all(waiting);
  });
});
