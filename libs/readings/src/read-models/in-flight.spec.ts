import { expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { ReadingsInFlight } from './in-flight.js';

const TIMEOUT_MS = 600_000;

/** A workspace whose rows a worker writes, or not. */
const workspace = (limit: number) => {
  let now = 0;
  let unfinished = 0;
  let accepted = 0;
  let queries = 0;
  let answering = Promise.resolve();
  const rows = new Set<string>();
  const query = async ({ values }: { values: [string, number, string[]] }) => {
    queries += 1;
    await answering;
    if (unfinished < 0) throw new Error('The database is away');
    return { rows: [{ readings: unfinished, known: values[2].filter((id) => rows.has(id)) }] };
  };
  const inFlight = new ReadingsInFlight(
    { query } as unknown as Pool,
    { now: () => now },
    { READING_TIMEOUT_MS: TIMEOUT_MS },
  );
  const admit = async () => {
    now += 1_000;
    return inFlight.admit('ws_1', true, limit);
  };
  return {
    inFlight,
    admit,
    queries: () => queries,
    /** Counts from now on get no answer, until the returned function is called. */
    withhold(): () => void {
      let answer = (): void => undefined;
      answering = new Promise((resolve) => (answer = resolve));
      return answer;
    },
    /** Requests this many readings, a second apart: each time the rows are counted again. Those admitted are accepted. */
    async ask(times: number): Promise<boolean[]> {
      const answers: boolean[] = [];
      for (let n = 0; n < times; n += 1) {
        const admission = await admit();
        if (admission) admission.readingId = `r${(accepted += 1)}`;
        answers.push(admission !== null);
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

it('keeps counting its own reading when a process with a clock ahead has a newer row', async () => {
  const { ask, inFlight, admit } = workspace(2);
  await ask(1);
  // Whatever date another process gave its reading: only the reading's own row ends its admission.
  expect(await admit()).not.toBeNull();
  expect(await inFlight.admit('ws_1', true, 2)).toBeNull();
});

it('counts each mode for itself', async () => {
  const { ask, inFlight } = workspace(2);
  await ask(2);
  expect(await inFlight.admit('ws_1', true, 2)).toBeNull();
  expect(await inFlight.admit('ws_1', false, 2)).not.toBeNull();
});

it('stops counting a reading that was admitted and refused later', async () => {
  const { ask, admit, inFlight } = workspace(2);
  await ask(1);
  inFlight.withdrawn('ws_1', true, (await admit())!);
  expect(await ask(2)).toEqual([true, false]);
});

it('stops counting a reading whose row never comes, once it has timed out', async () => {
  const { ask, pass } = workspace(2);
  await ask(2);
  expect(await ask(1)).toEqual([false]);
  pass(TIMEOUT_MS);
  expect(await ask(1)).toEqual([true]);
});

it('counts once for requests that come at once, and admits none beyond the limit', async () => {
  const { inFlight, queries } = workspace(3);
  const admitted = await Promise.all(Array.from({ length: 64 }, () => inFlight.admit('ws_1', true, 3)));
  expect(admitted.filter((admission) => admission !== null)).toHaveLength(3);
  expect(queries()).toBe(1);
});

it('answers from the last count while the next one is under way, for a moment', async () => {
  const { inFlight, ask, withhold, pass } = workspace(4);
  await ask(1);
  const answer = withhold();
  pass(300);
  expect(await inFlight.admit('ws_1', true, 4)).not.toBeNull();
  expect(await inFlight.admit('ws_1', true, 4)).not.toBeNull();
  pass(300);
  const later = Promise.all([inFlight.admit('ws_1', true, 4), inFlight.admit('ws_1', true, 4)]);
  answer();
  // Those admitted meanwhile count.
  expect(await later).toEqual([expect.anything(), null]);
});

it('counts anew after a count that failed', async () => {
  const { inFlight, project } = workspace(3);
  project(-1);
  await expect(inFlight.admit('ws_1', true, 3)).rejects.toThrow('away');
  project(0);
  expect(await inFlight.admit('ws_1', true, 3)).not.toBeNull();
});
