import { availableParallelism } from 'node:os';
import { SingleBar } from 'cli-progress';
import { projectPath } from '#platform/project-path.js';
import { GENDERS, LOCALES } from '#publishing/document/testing/trial.js';
import { Piscina } from 'piscina';
import type { ReadingFault } from './check-readings.js';
import type { CheckAnswer, CheckTask } from './check-thread.js';

/** More people make the shares of sentences no surer, and take much memory. */
export const MOST_MEASURED = 1_000;
/** Of fewer people, the shares of sentences and the likeness of readings say nothing. */
const LEAST_MEASURED = 300;
/** People of one task: few enough for a bar that moves. */
const CHUNK = 25;
export const MOST_FAULTS_SHOWN = 50;

/** A bar on stderr, when that is a terminal. */
export const progressBar = (label: string): SingleBar =>
  new SingleBar({
    format: `${label} {bar} {value}/{total} {eta_formatted}`,
    noTTYOutput: false,
    clearOnComplete: true,
  });

type Print = (line: string) => void;

const chunksOf = (people: number, seed: number): CheckTask[] =>
  Array.from({ length: Math.ceil(people / CHUNK) }, (_, at) => ({
    kind: 'readings',
    people: Math.min(CHUNK, people - at * CHUNK),
    seed: seed + at * CHUNK,
  }));

/** Each fault once, the most frequent first, with the first person who meets it; then how many there are. */
export const faultLines = (faults: readonly ReadingFault[], people: number): string[] => {
  const found = new Map<string, ReadingFault[]>();
  for (const each of faults) {
    const key = `${each.locale} ${each.fault}`;
    const known = found.get(key);
    if (known) known.push(each);
    else found.set(key, [each]);
  }
  const sorted = [...found].toSorted(([, one], [, other]) => other.length - one.length);
  const readings = people * LOCALES.length * GENDERS.length;
  return [
    ...sorted.slice(0, MOST_FAULTS_SHOWN).map(([fault, holders]) => {
      const [first] = holders;
      return `${fault}\n    ${holders.length} readings, first that of person ${first?.seed} ${first?.gender}`;
    }),
    ...(sorted.length > MOST_FAULTS_SHOWN ? [`… and ${sorted.length - MOST_FAULTS_SHOWN} more`] : []),
    `${readings} readings of ${people} people, ${faults.length} faults, ${sorted.length} different`,
  ];
};

/**
 * Composes and judges the readings of `people` random people on a thread for each processor, then what the readings of adults in
 * each language share. Runs the compiled code. Prints the faults, in the same order for any number of threads.
 * @param seed of the first person; the others follow
 * @returns the number of faults and limits exceeded
 */
export const checkPeople = async (people: number, seed: number, print: Print): Promise<number> => {
  const pool = new Piscina<CheckTask, CheckAnswer>({
    filename: projectPath('dist/tools/content/check-thread.js'),
    maxThreads: availableParallelism(),
  });
  const bar = progressBar('Readings');
  const measured = Math.min(people, MOST_MEASURED);
  const isMeasured = people >= LEAST_MEASURED;
  // The longest tasks first.
  const limits = isMeasured
    ? LOCALES.map((locale) => pool.run({ kind: 'limits', locale, people: measured, seed }))
    : [];
  bar.start(people, 0);
  const readings = chunksOf(people, seed).map(async (chunk) => {
    const found = await pool.run(chunk);
    bar.increment(chunk.people);
    return found as readonly ReadingFault[];
  });
  const [found, exceededOf] = await Promise.all([Promise.all(readings), Promise.all(limits)]);
  bar.stop();
  await pool.close();
  const faults = found.flat();
  const exceeded = exceededOf.flat() as string[];
  faultLines(faults, people).forEach(print);
  exceeded.forEach(print);
  print(
    isMeasured
      ? `Readings of ${measured} adults in each language, ${exceeded.length} limits exceeded`
      : `Sentences, choices, lengths and likeness are judged from ${LEAST_MEASURED} people on`,
  );
  return faults.length + exceeded.length;
};
