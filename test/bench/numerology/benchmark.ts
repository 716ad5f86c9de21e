import { calculateTheme, type ThemeSubject } from '#numerology/index.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import { atLeast, type Benchmark } from '../report.js';

/** People per round. */
const PEOPLE = 20_000;
/** Rounds after a warm-up round; the median counts. */
const ROUNDS = 9;
const AS_OF = '2026-09-29';

/** Measures full calculations, each for a different person. */
export const numerologyBenchmark: Benchmark = {
  name: 'numerology',
  title: 'The calculation',
  explanation: `Full calculations a second of CPU time, the collection of garbage included; the middle of ${ROUNDS} rounds of ${PEOPLE} people.`,
  run({ count = PEOPLE, add }) {
    const subjects = Array.from({ length: count }, (_, seed): ThemeSubject => ({
      ...randomPerson(seed),
      subjectGender: 'neutral',
    }));
    const round = (): number => {
      const from = process.cpuUsage();
      for (const subject of subjects) calculateTheme(subject, AS_OF);
      const { user, system } = process.cpuUsage(from);
      return subjects.length / ((user + system) / 1e6);
    };
    round();
    const rates = Array.from({ length: ROUNDS }, round).sort((left, right) => left - right);
    add(atLeast('full calculations on one core', rates[Math.floor(ROUNDS / 2)] ?? 0, '/s', 20_000));
    return Promise.resolve();
  },
};
