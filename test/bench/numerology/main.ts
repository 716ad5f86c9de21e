import { Command, InvalidArgumentError } from 'commander';
import { cpus } from 'node:os';
import { calculateTheme, type ThemeSubject } from '@app/numerology/index.js';
import { randomPerson } from '@app/publishing/content/random-people.js';

const count = (value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 1.');
};

const options = new Command('bench-numerology')
  .description(
    'Measures how many full calculations, each of another person, one core makes a second. Prints a Markdown table.',
  )
  .option('--people <n>', 'people in a round', count, 20_000)
  .option('--rounds <n>', 'rounds after one to warm up; the middle one counts', count, 9)
  .option('--json', 'print one JSON object')
  .addHelpText(
    'after',
    '\nExamples:\n  node dist/test/bench/numerology/main.js\n  node dist/test/bench/numerology/main.js --json',
  )
  .parse()
  .opts<{ people: number; rounds: number; json?: boolean }>();

const LEAST_PER_SECOND = 20_000;
const AS_OF = '2026-09-29';

const subjects = Array.from({ length: options.people }, (_, seed): ThemeSubject => ({
  ...randomPerson(seed),
  subjectGender: 'neutral',
}));

/** Calculations per second of CPU, the collection of garbage included. */
const round = (): number => {
  const from = process.cpuUsage();
  for (const subject of subjects) calculateTheme(subject, AS_OF);
  const { user, system } = process.cpuUsage(from);
  return subjects.length / ((user + system) / 1e6);
};

round();
const rates: number[] = [];
for (let done = 0; done < options.rounds; done += 1) {
  rates.push(round());
  process.stderr.write(`round ${done + 1} of ${options.rounds}: ${rates.at(-1)?.toFixed(0) ?? ''}/s\n`);
}
rates.sort((left, right) => left - right);
const value = Math.round(rates[Math.floor(rates.length / 2)] ?? 0);
const row = {
  what: 'full calculations on one core',
  value,
  unit: '/s',
  least: LEAST_PER_SECOND,
  met: value >= LEAST_PER_SECOND,
};

process.stdout.write(
  options.json
    ? `${JSON.stringify([row])}\n`
    : `| what | measured | aim | met |
|---|---|---|---|
| ${row.what} | **${row.value} ${row.unit}** | ≥ ${row.least} ${row.unit} | ${row.met ? 'yes' : 'no'} |

${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}, Node ${process.version}; ${options.people} people, ${options.rounds} rounds.
`,
);
