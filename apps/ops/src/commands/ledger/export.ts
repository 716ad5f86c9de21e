import { Option, type Command } from 'commander';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { printableLines } from '#platform/text/printable.js';
import { ExportLedger } from '#billing/contracts/index.js';
import { replaceFile } from '../../new-file.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { parseInstant } from '../options.js';
import { parsePeriod } from './options.js';
import { withProgress } from '../../progress.js';

interface Options {
  readonly workspace: string;
  readonly format: 'csv' | 'jsonl';
  readonly period?: string;
  readonly from?: number;
  readonly to?: number;
  readonly out?: string;
}

export const addExport = (ledger: Command): void => {
  ledger
    .command('export')
    .description('a book as text, one row per posting: csv for spreadsheets, jsonl for verify-file')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--format <format>', 'csv or jsonl').choices(['csv', 'jsonl']).default('jsonl'))
    .option('--period <yyyy-mm>', 'one month (UTC) with its close, as its seal covers it', parsePeriod)
    .option('--from <instant>', 'start with the first event dated at this time or later', parseInstant)
    .option('--to <instant>', 'end before the first event dated at this time or later', parseInstant)
    .option('--out <file>', 'write to this file, readable only by you, instead of standard output')
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger export --workspace ws_… --format csv --from 2026-04-01 --to 2026-05-01 --out april.csv',
    )
    .action(async (options: Options, command: Command) => {
      await withSession(async ({ queries, requireWorkspace }) => {
        const { workspace, format, period, from = null, to = null, out } = options;
        if (period !== undefined && (from !== null || to !== null)) {
          throw new OpsError('Choose either --period or --from and --to.');
        }
        const range = period === undefined ? { from, to } : { period };
        await requireWorkspace(workspace);
        const written = await withProgress('export', async (progress) => {
          const book = await queries.execute(new ExportLedger(workspace, format, range, progress));
          const text = period === undefined ? book.text : withRecords(book.text, workspace, period);
          if (out === undefined) await pipeline(Readable.from(shown(text)), process.stdout, { end: false });
          else await writeWhole(out, text);
          return book.footer();
        });
        if (out === undefined) return;
        const { events, postings, unreadable, headHash } = written;
        print(
          command,
          { out, ...written },
          `Wrote ${events} events with ${postings} postings to ${out}; head hash ${headHash}${unreadable ? `; ${unreadable.entries} entries are shown and not interpreted` : ''}`,
        );
      });
    });
};

/** @throws OpsError when nothing is recorded of the month */
async function* withRecords(
  text: AsyncIterable<string>,
  workspace: string,
  period: string,
): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const part of text) {
    isEmpty = false;
    yield part;
  }
  if (isEmpty) throw new OpsError(`There are no records of ${workspace} in ${period}.`);
}

/** Writes exact bytes to a pipe or a file, because they may be verified. A terminal gets escaped text. */
const shown = (text: AsyncIterable<string>): AsyncIterable<string> =>
  process.stdout.isTTY ? printableParts(text) : text;

async function* printableParts(text: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const part of text) yield printableLines(part);
}

const writeWhole = (out: string, text: AsyncIterable<string>): Promise<void> =>
  replaceFile(out, async (write) => {
    for await (const part of text) write(Buffer.from(part));
  });
