/** The authors' tool: check, measure and look at the prose of the readings. `npm run content -- --help` */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  calculateTheme,
  canonicalGender,
  checkDateOfBirth,
  checkName,
  type SubjectGender,
  type StructuredName,
  toResult,
} from '@app/numerology/index.js';
import { Command, Option } from 'commander';
import { composeDocument } from '../document/compose.js';
import type { DocumentV1, Locale } from '../document/document.js';
import { renderMarkdown } from '../markdown/render.js';
import { createTypesetter } from '../pdf/typesetter.js';
import { catalogFor } from './catalog.js';
import { lintCatalog, messagesOf } from './lint.js';
import { CONTENT_VERSION } from './version.js';

const LOCALES = ['fr-FR', 'en-US'] as const satisfies readonly Locale[];
const GENDERS = ['feminine', 'masculine', 'neutral'] as const satisfies readonly SubjectGender[];

const print = (line: string) => process.stdout.write(`${line}\n`);
const wordsIn = (text: string): number => text.match(/[\p{L}\p{N}]+(?:[’'-][\p{L}\p{N}]+)*/gu)?.length ?? 0;

/** Exit code 1 if a file does not load, a language lacks a key of the other, or a text breaks a rule. */
const check = (): void => {
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
  process.exitCode = alone.length + faults.length === 0 ? 0 : 1;
};

/** Words of each family and language, in the neutral form. */
const stats = (): void => {
  const families = Object.keys(catalogFor('fr-FR')) as (keyof ReturnType<typeof catalogFor>)[];
  const wordsOf = (locale: Locale, family: (typeof families)[number]): number =>
    messagesOf(catalogFor(locale)[family]).reduce((sum, [, message]) => sum + wordsIn(message.neutral), 0);
  const row = (label: string, ...numbers: readonly (number | string)[]) =>
    print(label.padEnd(16) + numbers.map((number) => String(number).padStart(8)).join(''));
  row('', ...LOCALES);
  for (const family of families) row(family, ...LOCALES.map((locale) => wordsOf(locale, family)));
  row('all', ...LOCALES.map((locale) => families.reduce((sum, family) => sum + wordsOf(locale, family), 0)));
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

const composed = (
  name: StructuredName,
  options: PreviewOptions,
  locale: Locale,
  subjectGender: SubjectGender,
): DocumentV1 => {
  const theme = calculateTheme({ name, dateOfBirth: options.born, subjectGender }, options.asOf);
  const result = toResult(theme, {
    readingId: '00000000-0000-4000-8000-000000000000',
    locale,
    contentVersion: CONTENT_VERSION,
    formats: ['document_v1', 'markdown', 'pdf'],
  });
  return composeDocument(result, { publishedAt: `${options.asOf}T00:00:00.000Z` });
};

const preview = (options: PreviewOptions): void => {
  const name = { firstNames: options.first, middleNames: options.middle, lastNames: options.last };
  const problems = [...checkName(name), ...[checkDateOfBirth(options.born, options.asOf)].filter(Boolean)];
  if (problems.length > 0) throw new Error(`Not accepted: ${JSON.stringify(problems)}`);

  const typesetter = createTypesetter();
  mkdirSync(options.out, { recursive: true });
  for (const locale of options.locale ? [options.locale] : LOCALES) {
    for (const gender of options.gender ? [options.gender] : GENDERS) {
      const document = composed(name, options, locale, gender);
      const base = join(options.out, `${locale}-${gender}`);
      writeFileSync(`${base}.json`, `${JSON.stringify(document, null, 2)}\n`);
      writeFileSync(`${base}.md`, renderMarkdown(document));
      writeFileSync(`${base}.pdf`, typesetter.typeset(document));
      print(`${base}.{json,md,pdf}: ${document.meta.wordCount} words`);
    }
  }
};

const program = new Command('content').description('Check, measure and look at the prose of the readings.');

program.command('check').description('Load every file and run the lint; fails on any fault.').action(check);
program.command('stats').description('Count the words of each family in each language.').action(stats);
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
