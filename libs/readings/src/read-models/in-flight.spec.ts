import { expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { ReadingsInFlight } from './in-flight.js';

const READING_TIMEOUT_MS = 600_000;

/** A workspace whose rows a worker writes, or not. */
const workspace = (limit: number) => {
  let [now, unfinished, accepted] = [0, 0, 0];
  const rows = new Set<string>();
  const query = async ({ values }: { values: [string, number, string[]] }) => ({
    rows: [{ readings: unfinished, known: values[2].filter((id) => rows.has(id)) }],
  });
  const inFlight = new ReadingsInFlight(
    { query } as unknown as Pool,
    { now: () => now },
    { READINGS_IN_FLIGHT: limit, READING_TIMEOUT_MS },
  );
  const admit = (livemode = true) => inFlight.admit('ws_1', livemode, 1);
  return {
    admit,
    ended: (admissions: Awaited<ReturnType<typeof admit>>, ...ids: string[]) =>
      inFlight.ended('ws_1', true, admissions ?? [], ids),
    /** Requests this many readings, one after another. Those admitted are accepted. */
    async ask(times: number): Promise<boolean[]> {
      const answers: boolean[] = [];
      for (let n = 0; n < times; n += 1) {
        const admissions = await admit();
        if (admissions) inFlight.ended('ws_1', true, admissions, [`r${(accepted += 1)}`]);
        answers.push(admissions !== null);
      }
      return answers;
    },
    /** Writes rows for all readings accepted so far. */
    project(readings: number): void {
      for (let n = 1; n <= accepted; n += 1) rows.add(`r${n}`);
      unfinished = readings;
    },
    pass: (milliseconds: number) => (now += milliseconds),
  };
};

it('counts each reading once when its row exists, and not after it has ended', async () => {
  const { ask, project } = workspace(3);
  await ask(2);
  project(2);
  expect(await ask(2)).toEqual([true, false]);
  project(0);
  expect(await ask(4)).toEqual([true, true, true, false]);
});

it('counts each mode for itself', async () => {
  const { ask, admit } = workspace(2);
  await ask(2);
  expect(await admit()).toBeNull();
  expect(await admit(false)).not.toBeNull();
});

it('stops counting a reading that was admitted and refused later', async () => {
  const { ask, admit, ended } = workspace(2);
  await ask(1);
  const admitted = await admit();
  expect(await ask(1)).toEqual([false]);
  ended(admitted);
  expect(await ask(2)).toEqual([true, false]);
});

it('stops counting a reading whose row never comes, once it has timed out', async () => {
  const { ask, pass } = workspace(2);
  await ask(2);
  expect(await ask(1)).toEqual([false]);
  pass(READING_TIMEOUT_MS);
  expect(await ask(1)).toEqual([true]);
});

it('admits none beyond the limit of requests that come at once', async () => {
  const { admit } = workspace(3);
  const admitted = await Promise.all(Array.from({ length: 64 }, () => admit()));
  expect(admitted.filter((admissions) => admissions !== null)).toHaveLength(3);
});
