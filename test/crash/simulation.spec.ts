import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SimulatedPostgres } from './support/simulation/postgres.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { simulatedRendering, simulatedTimers } from './support/simulation/stand-ins.js';

jest.unstable_mockModule('node:timers/promises', () => simulatedTimers);
jest.unstable_mockModule('#publishing/document/compose.js', () => simulatedRendering);
jest.unstable_mockModule('#publishing/markdown/render.js', () => simulatedRendering);

const { simulate } = await import('./support/simulation/simulate.js');

const SEEDS = rounds(20, 2_000);
const FIRST_SEED = seedOr(1);

let postgres: SimulatedPostgres;
beforeAll(async () => {
  postgres = await SimulatedPostgres.start();
});
afterAll(() => postgres.stop());

describe('a simulated service of two APIs and two workers', () => {
  if (SEEDS === 1) {
    it(`keeps its promises with seed ${FIRST_SEED}, or shows every step`, async () => {
      const { breaches, trace } = await simulate(postgres, FIRST_SEED, { traced: true });
      const course = trace.join('\n');
      if (breaches.length > 0) throw new Error(`${breaches.join('\n')}\n\n${course}`);
    });
    return;
  }

  it(
    `keeps its promises whatever fails, with ${SEEDS} seeds from ${FIRST_SEED}`,
    async () => {
      let completed = 0;
      let testCompleted = 0;
      let crashes = 0;
      let unanswered = 0;
      let losses = 0;
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
        const run = await simulate(postgres, seed);
        if (run.breaches.length > 0)
          throw new Error(`${run.breaches.join('\n')}\n\nAgain: ${again('simulation', 1, seed)}`);
        completed += run.completed;
        testCompleted += run.testCompleted;
        crashes += run.crashes;
        unanswered += run.unanswered;
        losses += run.losses;
      }
      expect(completed).toBeGreaterThan(SEEDS);
      expect(testCompleted).toBeGreaterThan(SEEDS / 4);
      expect(crashes).toBeGreaterThan(SEEDS);
      expect(unanswered).toBeGreaterThan(SEEDS);
      expect(losses).toBeGreaterThan(SEEDS / 10);
    },
    // Half a second each on a quiet machine.
    SEEDS * 30_000,
  );

  it('takes the same course with the same seed, and another with another seed', async () => {
    const [first, again, other] = [
      await simulate(postgres, 42),
      await simulate(postgres, 42),
      await simulate(postgres, 43),
    ];
    expect(again.digest).toBe(first.digest);
    expect(again.steps).toBe(first.steps);
    expect(other.digest).not.toBe(first.digest);
  });
});
