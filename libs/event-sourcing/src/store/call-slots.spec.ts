import { describe, expect, it } from '@jest/globals';
import { CallSlots } from './read-stream.js';
import { StoreUnavailable } from './errors.js';

describe('slots of calls', () => {
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
