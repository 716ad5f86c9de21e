import { describe, expect, it, jest } from '@jest/globals';
import { simulatedRendering, simulatedTimers } from './support/simulation/stand-ins.js';

jest.unstable_mockModule('node:timers/promises', () => simulatedTimers);
jest.unstable_mockModule('@app/publishing/document/compose.js', () => simulatedRendering);
jest.unstable_mockModule('@app/publishing/markdown/render.js', () => simulatedRendering);

const { simulate } = await import('./support/simulation/simulate.js');

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 300);
const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const ONE_SEED = process.env['SIMULATION_SEED'];

const replay = (seed: number): string =>
  `SIMULATION_SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/crash/simulation`;

/**
 * SIMULATION_SEEDS=10000 runs more seeds, SIMULATION_FIRST_SEED=… other ones. SIMULATION_SEED=… runs one and, if it
 * fails, prints every step.
 */
describe('a simulated service of two APIs and two workers', () => {
  if (ONE_SEED) {
    it(`keeps its promises with seed ${ONE_SEED}`, async () => {
      const { breaches, trace } = await simulate(Number(ONE_SEED), { traced: true });
      const course = trace.join('\n');
      if (breaches.length > 0) throw new Error(`${breaches.join('\n')}\n\n${course}`);
    });
    return;
  }

  it(`keeps its promises whatever fails, with ${SEEDS} seeds from ${FIRST_SEED}`, async () => {
    let completed = 0;
    let testCompleted = 0;
    let crashes = 0;
    let unanswered = 0;
    let losses = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const run = await simulate(seed);
      if (run.breaches.length > 0) throw new Error(`${run.breaches.join('\n')}\n\nAgain: ${replay(seed)}`);
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
  }, 1_800_000);

  it('takes the same course with the same seed, and another with another seed', async () => {
    const [first, again, other] = [await simulate(42), await simulate(42), await simulate(43)];
    expect(again.digest).toBe(first.digest);
    expect(again.steps).toBe(first.steps);
    expect(other.digest).not.toBe(first.digest);
  });
});
