/** The authors' tool: checks, measures and previews the prose of the readings. `npm run content -- --help` */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalGender, checkDateOfBirth, checkName, type SubjectGender } from '@app/numerology/index.js';
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Locale } from '../document/document.js';
import { renderMarkdown } from '../markdown/render.js';
import { createTypesetter, type Typesetter } from '../pdf/typesetter.js';
import { bookStats, reportBook } from './book/report.js';
import { catalogFor } from './catalog.js';
import { checkReadings, type ReadingFault } from './check-readings.js';
import { lintCatalog, messagesOf } from './lint.js';
import { SAMPLES } from './samples.js';
import { GENDERS, LOCALES, type Trial, trialDocument } from './trial.js';

const print = (line: string) => process.stdout.write(`${line}\n`);

const wholeNumber = (value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 0.');
};

/** Walks through `steps` with a bar on stderr, when that is a terminal. */
const withBar = <T>(label: string, total: number, steps: Iterable<T>, work: (step: T) => void): void => {
  const bar = new SingleBar({
    format: `${label} {bar} {value}/{total} {eta_formatted}`,
    noTTYOutput: false,
    clearOnComplete: true,
  });
  bar.start(total, 0);
  for (const step of steps) {
    work(step);
    bar.increment();
  }
  bar.stop();
};

const MOST_FAULTS_SHOWN = 50;

/** Renders random people and prints the faults of their readings. @returns their number */
const checkPeople = (people: number, seed: number): number => {
  const faults: ReadingFault[] = [];
  withBar('Readings', people, checkReadings(people, seed), (found) => void faults.push(...found));
  for (const { seed: each, locale, gender, fault } of faults.slice(0, MOST_FAULTS_SHOWN)) {
    print(`person ${each} ${locale} ${gender}: ${fault}`);
  }
  if (faults.length > MOST_FAULTS_SHOWN) print(`… and ${faults.length - MOST_FAULTS_SHOWN} more`);
  print(`${people * LOCALES.length * GENDERS.length} readings of ${people} people, ${faults.length} faults`);
  return faults.length;
};

interface CheckOptions {
  readonly people: number;
  readonly seed: number;
  readonly family: readonly string[];
  readonly locale?: Locale;
}

/** Exit code 1 if a family of the book has a fault; what is not written yet is none. */
const checkFamilies = ({ family, locale }: CheckOptions): void => {
  process.exitCode = reportBook(family, locale, print) === 0 ? 0 : 1;
};

/** Exit code 1 if a file does not load, a language lacks a key of the other, a text or a reading breaks a rule. */
const check = (options: CheckOptions): void => {
  if (options.family.length > 0) return checkFamilies(options);
  const { people, seed } = options;
  const keys = LOCALES.map((locale) => messagesOf(catalogFor(locale)).map(([path]) => path));
  const [french = [], english = []] = keys;
  const alone = [
    ...french.filter((key) => !english.includes(key)).map((key) => `${key} is only in fr-FR`),
    ...english.filter((key) => !french.includes(key)).map((key) => `${key} is only in en-US`),
  ];
  const faults = LOCALES.flatMap((locale) =>
    lintCatalog(locale, catalogFor(locale)).map(
      ({ path, rule, text }) => `${locale} ${path}: ${rule}\n  ${text}`,
    ),
  );
  [...alone, ...faults].forEach(print);
  print(`${french.length} texts in each language, ${alone.length + faults.length} faults`);
  const broken = people > 0 ? checkPeople(people, seed) : 0;
  process.exitCode = alone.length + faults.length + broken === 0 ? 0 : 1;
};

interface PreviewOptions {
  readonly first: string[];
  readonly middle: string[];
  readonly last: string[];
  readonly born: string;
  readonly gender?: SubjectGender;
  readonly locale?: Locale;
  readonly asOf: string;
  readonly out: string;
}

const writeReading = (typesetter: Typesetter, base: string, trial: Trial): number => {
  const document = trialDocument(trial);
  writeFileSync(`${base}.json`, `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(`${base}.md`, renderMarkdown(document));
  writeFileSync(`${base}.pdf`, typesetter.typeset(document));
  return document.meta.wordCount;
};

const preview = (options: PreviewOptions): void => {
  const name = { firstNames: options.first, middleNames: options.middle, lastNames: options.last };
  const problems = [...checkName(name), ...[checkDateOfBirth(options.born, options.asOf)].filter(Boolean)];
  if (problems.length > 0) throw new Error(`Not accepted: ${JSON.stringify(problems)}`);

  const typesetter = createTypesetter();
  const person = { name, dateOfBirth: options.born };
  mkdirSync(options.out, { recursive: true });
  for (const locale of options.locale ? [options.locale] : LOCALES) {
    for (const gender of options.gender ? [options.gender] : GENDERS) {
      const base = join(options.out, `${locale}-${gender}`);
      const words = writeReading(typesetter, base, { person, locale, gender, asOf: options.asOf });
      print(`${base}.{json,md,pdf}: ${words} words`);
    }
  }
};

const samples = ({ out }: { out: string }): void => {
  const typesetter = createTypesetter();
  mkdirSync(out, { recursive: true });
  const written: string[] = [];
  withBar('Samples', SAMPLES.length, SAMPLES, (sample) => {
    const base = join(out, sample.slug);
    const words = writeReading(typesetter, base, sample);
    written.push(`${base}.{json,md,pdf}: ${sample.locale}, ${sample.gender}, ${words} words`);
  });
  written.forEach(print);
};

const program = new Command('content').description('Check, measure and preview the prose of the readings.');

program
  .command('check')
  .description('Load every file and run the lint; with --people also compose readings. Fails on any fault.')
  .option('--people <n>', 'random people, each read in both languages and all genders', wholeNumber, 0)
  .option('--seed <n>', 'the first person; the same number gives the same people', wholeNumber, 1)
  .option('--family <names...>', 'only these families or files of the book, e.g. life-path/7', [])
  .addOption(new Option('--locale <locale>', 'with --family, only this language').choices([...LOCALES]))
  .addHelpText(
    'after',
    '\nExamples:\n  npm run content -- check --people 5000\n  npm run content -- check --family pairs-path/4 --locale fr-FR',
  )
  .action(check);
program
  .command('samples')
  .description(
    'Write twelve sample readings that take the rare ways through the text; the same bytes every time.',
  )
  .option('--out <folder>', 'folder to write to', 'out/samples')
  .addHelpText('after', '\nExample:\n  npm run content -- samples --out /tmp/samples')
  .action(samples);
program
  .command('stats')
  .description('Count the words of each family in each language, beside the words asked.')
  .action(() => bookStats(print));
program
  .command('preview')
  .description(
    'Write the reading of one person as JSON, Markdown and PDF, in both languages and all genders.',
  )
  .option('--first <names...>', 'first names', ['Camille'])
  .option('--middle <names...>', 'middle names', [])
  .option('--last <names...>', 'last names', ['Laurent'])
  .option('--born <date>', 'date of birth, YYYY-MM-DD', '1990-06-15')
  .option('--gender <gender>', 'only this one: feminine, masculine or neutral', canonicalGender)
  .addOption(new Option('--locale <locale>', 'only this language').choices([...LOCALES]))
  .option('--as-of <date>', 'day of the reading, YYYY-MM-DD', new Date().toISOString().slice(0, 10))
  .option('--out <folder>', 'folder to write to', 'out')
  .action(preview);

program.parse();
