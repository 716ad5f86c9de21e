import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContext } from '@nestjs/common';
import { NewWorkGuard } from './new-work.guard.js';

const POST = {
  switchToHttp: () => ({ getRequest: () => ({ method: 'POST' }) }),
} as unknown as ExecutionContext;

it('refuses new work until the stores are known to belong together, however slowly they answer', async () => {
  const checkpoint = { name: 'readings.reading.v1', position: '9', event_id: null, event_place: null };
  let end: () => Promise<bigint> = async () => 5n;
  const pool = { query: async () => ({ rows: [checkpoint] }) };
  const guard = new NewWorkGuard(
    { isKept: () => true } as never,
    pool as never,
    { end: () => end() } as never,
  );
  await expect(guard.canActivate(POST)).rejects.toThrow('is being repaired');
  end = () => new Promise(() => undefined);
  await delay(1_100);
  await expect(guard.canActivate(POST)).rejects.toThrow('is being repaired');
});
