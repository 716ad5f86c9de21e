import { expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { ReadingsInFlight } from './in-flight.js';

const START = Date.parse('2026-04-12T10:00:00.000Z');

/** A workspace whose rows a worker writes, or not. */
const workspace = (limit: number) => {
  let now = START;
  let row: { readings: number; newest: Date | null } = { readings: 0, newest: null };
  const pool = { query: async () => ({ rows: [row] }) } as unknown as Pool;
  const inFlight = new ReadingsInFlight(pool, { now: () => now }, { now: () => now });
  return {
    inFlight,
    /** Asks this many times, a second apart: each time the rows are counted again. */
    async ask(times: number): Promise<boolean[]> {
      const answers: boolean[] = [];
      for (let n = 0; n < times; n += 1) {
        now += 1_000;
        answers.push(await inFlight.admits('ws_1', limit));
      }
      return answers;
    },
    project(readings: number): void {
      row = { readings, newest: new Date(now) };
    },
  };
};

it('counts admitted readings while no worker writes their rows', async () => {
  const { ask } = workspace(3);
  expect(await ask(5)).toEqual([true, true, true, false, false]);
});

it('counts each reading once when its row exists, and not after it has ended', async () => {
  const { ask, project } = workspace(3);
  await ask(2);
  project(2);
  expect(await ask(2)).toEqual([true, false]);
  project(0);
  expect(await ask(4)).toEqual([true, true, true, false]);
});

it('stops counting a reading that was admitted and refused later', async () => {
  const { ask, inFlight } = workspace(2);
  await ask(2);
  inFlight.withdrawn('ws_1');
  expect(await ask(2)).toEqual([true, false]);
});
