import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes test/durations.json, by which a clean checkout starts the longest specs first (test/sequencer.mjs).
 * Reads the report of a whole run: `npm run test:all -- --json --outputFile=out/jest.json`, which `.ci/run` leaves too.
 */
const SLOW_S = 10;
const root = fileURLToPath(new URL('..', import.meta.url));

const { testResults } = JSON.parse(readFileSync(`${root}out/jest.json`, 'utf8'));
const seconds = testResults.map(({ name, startTime, endTime }) => [
  relative(root, name).replaceAll('\\', '/'),
  Math.round((endTime - startTime) / 1000),
]);
const slow = seconds.filter(([, taken]) => taken >= SLOW_S).sort(([, one], [, other]) => other - one);
writeFileSync(`${root}test/durations.json`, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
