import { expect, it } from '@jest/globals';
import { loadClient } from './load.js';

it('A process loads one client, and no other beside it', async () => {
  const openClient = await loadClient('kurrent');
  expect(await loadClient('kurrent')).toBe(openClient);
  await expect(loadClient('eventstore')).rejects.toThrow('This process uses the client kurrent');
});
