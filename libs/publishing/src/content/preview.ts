/**
 * Writes the document of one person in its three formats, to read the prose and look at the pages while working on
 * them: `node dist/libs/publishing/src/content/preview.js --help`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  calculateTheme,
  canonicalGender,
  checkDateOfBirth,
  checkName,
  toResult,
} from '@app/numerology/index.js';
import { Command, Option } from 'commander';
import { composeDocument } from '../document/compose.js';
import type { Locale } from '../document/document.js';
import { renderMarkdown } from '../markdown/render.js';
import { createTypesetter } from '../pdf/typesetter.js';
import { CONTENT_VERSION } from './version.js';

interface PreviewOptions {
  readonly first: string[];
  readonly middle: string[];
  readonly last: string[];
  readonly born: string;
  readonly gender: string;
  readonly locale: Locale;
  readonly asOf: string;
  readonly out: string;
}

const preview = (options: PreviewOptions): void => {
  const name = { firstNames: options.first, middleNames: options.middle, lastNames: options.last };
  const subjectGender = canonicalGender(options.gender);
  const problems = [...checkName(name), ...[checkDateOfBirth(options.born, options.asOf)].filter(Boolean)];
  if (!subjectGender || problems.length > 0) throw new Error(`Not accepted: ${JSON.stringify(problems)}`);

  const theme = calculateTheme({ name, dateOfBirth: options.born, subjectGender }, options.asOf);
  const result = toResult(theme, {
    readingId: '00000000-0000-4000-8000-000000000000',
    locale: options.locale,
    contentVersion: CONTENT_VERSION,
    formats: ['document_v1', 'markdown', 'pdf'],
  });
  const document = composeDocument(result, { publishedAt: `${options.asOf}T00:00:00.000Z` });
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, 'document.json'), `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(join(options.out, 'document.md'), renderMarkdown(document));
  writeFileSync(join(options.out, 'document.pdf'), createTypesetter().typeset(document));
  process.stdout.write(`${document.meta.wordCount} words in ${options.out}\n`);
};

new Command('content')
  .description('Write the document of one person as JSON, Markdown and PDF.')
  .option('--first <names...>', 'first names', ['Camille'])
  .option('--middle <names...>', 'middle names', [])
  .option('--last <names...>', 'last names', ['Laurent'])
  .option('--born <date>', 'date of birth, YYYY-MM-DD', '1990-06-15')
  .option('--gender <gender>', 'feminine, masculine or neutral', 'neutral')
  .addOption(new Option('--locale <locale>', 'language').choices(['fr-FR', 'en-US']).default('fr-FR'))
  .option('--as-of <date>', 'day of the reading, YYYY-MM-DD', new Date().toISOString().slice(0, 10))
  .option('--out <folder>', 'folder to write to', 'preview')
  .action(preview)
  .parse();
