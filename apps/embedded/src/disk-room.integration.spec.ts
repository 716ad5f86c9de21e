import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskRoom } from './disk-room.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('A data folder that cannot be read for a moment ends neither the watch nor a start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-room-'));
  const said: string[] = [];
  const room = new DiskRoom(folder, Number.MAX_SAFE_INTEGER, (line) => said.push(line));
  rmSync(folder, { recursive: true });
  expect(() => jest.advanceTimersByTime(5_000)).not.toThrow();
  expect(await room.untilRoom()).toBe(false);
  expect(said).toEqual([expect.stringMatching(/has less than/)]);
  room.stop();
});
