import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs each work so many times, in turns, forth and back: the speed of a shared machine changes by a quarter within
 * minutes, and so all meet the same.
 * @returns the results of each, in the order of the works
 */
export const inTurns = async <T extends readonly unknown[]>(
  rounds: number,
  ...works: { readonly [K in keyof T]: () => Promise<T[K]> }
): Promise<{ readonly [K in keyof T]: T[K][] }> => {
  const results = works.map((): unknown[] => []);
  const order = works.map((_, place) => place);
  for (let round = 0; round < rounds; round += 1)
    for (const place of round % 2 === 0 ? order : order.toReversed())
      results[place]!.push(await works[place]!());
  return results as never;
};

type Figures<W> = { readonly [K in keyof W]: number };
type Measurements = readonly (() => Promise<number>)[];

/** The highest figure of each in so many turns: other load on the machine can only slow a rate. */
export const highest = async <W extends Measurements>(rounds: number, ...works: W): Promise<Figures<W>> =>
  (await inTurns<readonly number[]>(rounds, ...works)).map((all) => Math.max(...all)) as never;

/** The lowest figure of each in so many turns: other load on the machine can only lengthen a time. */
export const lowest = async <W extends Measurements>(rounds: number, ...works: W): Promise<Figures<W>> =>
  (await inTurns<readonly number[]>(rounds, ...works)).map((all) => Math.min(...all)) as never;

/** @returns milliseconds */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** The smallest value that at least this share of the values do not exceed. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? NaN;

/** Takes numbers from 0 to `count`, so many at the same time. */
export const concurrently = async (
  inFlight: number,
  count: number,
  work: (n: number) => Promise<unknown>,
): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
};

/** Lends a temporary folder. */
export const inFolder = async <T>(work: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
