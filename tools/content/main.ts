/** The authors' tool: checks, measures and previews the prose of the readings. `npm run content -- --help` */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalGender, checkDateOfBirth, checkName, type SubjectGender } from '#numerology/index.js';
import type { Locale } from '#publishing/document/document.js';
import { SAMPLES } from '#publishing/document/testing/samples.js';
import { GENDERS, LOCALES, type Trial, trialDocument } from '#publishing/document/testing/trial.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { createTypesetter, type Typesetter } from '#publishing/pdf/typesetter.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { bookStats, reportBook } from './book-report.js';
import { checkPages } from './check-pages.js';
import { checkPeople, MOST_FAULTS_SHOWN, MOST_MEASURED, progressBar } from './check-people.js';
import { measureReadings, printStats, type ReadingStats } from './reading-stats.js';

const print = (line: string) => process.stdout.write(`${line}\n`);

const wholeNumber = (value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 0.');
};

/** Walks through `steps` with a bar. */
const withBar = <T>(label: string, total: number, steps: Iterable<T>, work: (step: T) => void): void => {
  const bar = progressBar(label);
  bar.start(total, 0);
  for (const step of steps) {
    work(step);
    bar.increment();
  }
  bar.stop();
};

const measured = (people: number, seed: number): ReadingStats[] =>
  LOCALES.map((locale) => measureReadings(locale, Math.min(people, MOST_MEASURED), seed));

/** Lays out booklets and prints what is careless on their pages. @returns the number of faults */
const checkBooklets = (people: number, seed: number): number => {
  const typesetter = createTypesetter();
  const faults: string[] = [];
  withBar('Booklets', people, checkPages(typesetter, people, seed), (found) => void faults.push(...found));
  faults.slice(0, MOST_FAULTS_SHOWN).forEach(print);
  if (faults.length > MOST_FAULTS_SHOWN) print(`… and ${faults.length - MOST_FAULTS_SHOWN} more`);
  print(`${people * LOCALES.length} booklets of ${people} people, ${faults.length} faults`);
  return faults.length;
};

interface CheckOptions {
  readonly people: number;
  readonly pages: number;
  readonly seed: number;
  readonly family: readonly string[];
  readonly locale?: Locale;
}

/** Exit code 1 if the book has a fault or a gap, or a reading breaks a rule. */
const check = async ({ family, locale, people, pages, seed }: CheckOptions): Promise<void> => {
  const faults = reportBook(family, locale, print);
  const broken = people > 0 ? await checkPeople(people, seed, print) : 0;
  const careless = pages > 0 ? checkBooklets(pages, seed) : 0;
  process.exitCode = faults + broken + careless === 0 ? 0 : 1;
};

const stats = ({ people, seed }: { readonly people: number; readonly seed: number }): void => {
  bookStats(print);
  if (people > 0) measured(people, seed).forEach((each) => printStats(each, print));
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
  .description(
    'Check the book; with --people also compose readings, check each, and compare them. Fails on any fault.',
  )
  .option('--people <n>', 'random people, each read in both languages and all genders', wholeNumber, 0)
  .option('--pages <n>', 'random people whose booklets are laid out and looked over', wholeNumber, 0)
  .option('--seed <n>', 'the first person; the same number gives the same people', wholeNumber, 1)
  .option('--family <names...>', 'only these families or files of the book, e.g. life-path/7', [])
  .addOption(new Option('--locale <locale>', 'check only the book of this language').choices([...LOCALES]))
  .addHelpText(
    'after',
    '\nExamples:\n  npm run content -- check --people 5000\n  npm run content -- check --pages 100\n  npm run content -- check --family pairs-path/4 --locale fr-FR',
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
  .description('Count the words of each family; with --people also words, choices and likeness of readings.')
  .option('--people <n>', 'random people whose readings are measured', wholeNumber, 0)
  .option('--seed <n>', 'the first person', wholeNumber, 1)
  .action(stats);
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

await program.parseAsync();
