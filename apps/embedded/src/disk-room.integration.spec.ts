import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskRoom } from './disk-room.js';

const MORE_THAN_ANY_DISK = Number.MAX_SAFE_INTEGER;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('A data folder that cannot be read for a moment ends neither the watch nor a start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-room-'));
  const said: string[] = [];
  const room = new DiskRoom({
    folder,
    reserve: MORE_THAN_ANY_DISK,
    say: (line) => said.push(line),
    onRoom: () => undefined,
  });
  rmSync(folder, { recursive: true });
  expect(() => jest.advanceTimersByTime(5_000)).not.toThrow();
  expect(await room.untilRoom()).toBe(false);
  expect(said).toEqual([expect.stringMatching(/has less than/)]);
  room.stop();
});
