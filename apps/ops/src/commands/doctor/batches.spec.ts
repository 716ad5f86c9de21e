import { expect, it } from '@jest/globals';
import type { OpenBatches } from '#readings/contracts/index.js';
import { checkBatches } from './batches.js';

const check = (found: OpenBatches) =>
  checkBatches({
    queries: { execute: async () => found as never },
    config: { READING_TIMEOUT_MS: 86_400_000 },
  });

it('Doctor names a reading that keeps a batch open', async () => {
  const oldest = { batchId: 'b1', workspaceId: 'ws_1', waitsFor: ['r1', 'r2'] };
  expect(await check({ count: 3, oldest })).toMatchObject({
    level: 'warning',
    message: '3 have not ended, such as b1 of ws_1, because reading r1 has not',
  });
  expect(await check({ count: 1, oldest: { ...oldest, waitsFor: [] } })).toMatchObject({
    advice: expect.stringContaining('No worker'),
  });
  expect(await check({ count: 0, oldest: null })).toMatchObject({ level: 'ok' });
});
