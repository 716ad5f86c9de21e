/** The authors' tool: checks and previews the prose of the readings. `npm run content -- --help` */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalGender, checkDateOfBirth, checkName, type SubjectGender } from '#numerology/index.js';
import type { Locale } from '#publishing/document/document.js';
import { GENDERS, LOCALES, trialDocument } from '#publishing/document/testing/trial.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { createTypesetter } from '#publishing/pdf/typesetter.js';
import { Command, InvalidArgumentError, Option } from 'commander';
import { loadBook } from './book-texts.js';
import { checkBook, parityFaults } from './check-book.js';
import { checkReadings } from './check-readings.js';
import { limitFaults } from './limits.js';

const print = (line: string) => process.stdout.write(`${line}\n`);

const wholeNumber = (value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 0.');
};

const bookFaults = (locale: Locale, families: readonly string[]): string[] => {
  const files = loadBook(locale, families);
  if (files.length === 0) throw new Error(`The book has no family or file ${families.join(', ')}`);
  const gaps = files.flatMap(({ file, gaps: missing }) =>
    missing.map((path) => `${file} ${path}: is missing`),
  );
  const faults = checkBook(locale, files, loadBook(locale)).map(
    ({ at, fault, text }) => `${at}: ${fault}${text ? `\n    ${text}` : ''}`,
  );
  return [...gaps, ...faults].map((fault) => `${locale} ${fault}`);
};

/** Each fault of the readings of these people once, the most frequent first, with the first person who meets it. */
const faultsOfPeople = (people: number, seed: number): string[] => {
  const found = new Map<string, { readonly first: string; count: number }>();
  for (const faults of checkReadings(people, seed))
    for (const { locale, fault, seed: person, gender } of faults) {
      const known = found.get(`${locale} ${fault}`) ?? { first: `person ${person} ${gender}`, count: 0 };
      known.count += 1;
      found.set(`${locale} ${fault}`, known);
    }
  return [...found]
    .toSorted(([, one], [, other]) => other.count - one.count)
    .map(([fault, { first, count }]) => `${fault}\n    ${count} readings, first that of ${first}`);
};

/** Of fewer people, the shares of sentences and the likeness of readings say nothing; of more, nothing more. */
const [LEAST_MEASURED, MOST_MEASURED] = [300, 1_000] as const;

interface CheckOptions {
  readonly people: number;
  readonly seed: number;
  readonly family: readonly string[];
  readonly locale?: Locale;
}

/** Exit code 1 if the book has a fault or a gap, or a reading breaks a rule. */
const check = ({ family, locale, people, seed }: CheckOptions): void => {
  const measured = people < LEAST_MEASURED ? [] : LOCALES;
  const faults = [
    ...(locale ? [locale] : LOCALES).flatMap((each) => bookFaults(each, family)),
    ...parityFaults(),
    ...faultsOfPeople(people, seed),
    ...measured.flatMap((each) => limitFaults(each, Math.min(people, MOST_MEASURED), seed)),
  ];
  faults.forEach(print);
  print(`${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
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
      const document = trialDocument({ person, locale, gender, asOf: options.asOf });
      writeFileSync(`${base}.json`, `${JSON.stringify(document, null, 2)}\n`);
      writeFileSync(`${base}.md`, renderMarkdown(document));
      writeFileSync(`${base}.pdf`, typesetter.typeset(document));
      print(`${base}.{json,md,pdf}: ${document.meta.wordCount} words`);
    }
  }
};

const program = new Command('content').description('Check and preview the prose of the readings.');

program
  .command('check')
  .description('Check the book; with --people also readings. Fails on any fault.')
  .option('--people <n>', 'random people, each read in both languages and all genders', wholeNumber, 0)
  .option('--seed <n>', 'the first person; the same number gives the same people', wholeNumber, 1)
  .option('--family <names...>', 'only these families or files of the book, e.g. life-path/7', [])
  .addOption(new Option('--locale <locale>', 'check only the book of this language').choices([...LOCALES]))
  .addHelpText(
    'after',
    '\nExamples:\n  npm run content -- check --people 1000\n  npm run content -- check --family pairs-path/4 --locale fr-FR',
  )
  .action(check);
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
