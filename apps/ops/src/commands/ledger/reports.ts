import { InvalidArgumentError, Option, type Command } from 'commander';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  bookStream,
  CURRENCY,
  ExplainReading,
  ExportLedger,
  FindLedgerEntries,
  GetBalance,
  GetLedger,
  GetMonthlyStatement,
  TypesetCustomerStatement,
  type Accounts,
  type AsOf,
  type ExplainedMovement,
  type LedgerEntry,
  type Money,
  type MonthlyStatement,
  type ReadingExplanation,
  type UnreadableEntry,
} from '#billing/contracts/index.js';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { printableLines } from '#platform/text/printable.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { GetWorkspace } from '#workspaces/contracts/index.js';
import { writeNewFile } from '../../new-file.js';
import { OpsError, print, table, tableOf, withProgress } from '../../output.js';
import { withSession, withWorkspace } from '../../session.js';
import { parseInstant } from '../options.js';

export interface Chosen {
  readonly workspace?: string;
  readonly all?: true;
}

/** The workspace, or `null` for all. @throws OpsError unless exactly one of the two was chosen */
export const chosenWorkspace = ({ workspace, all }: Chosen): string | null => {
  if ((workspace === undefined) === (all === undefined))
    throw new OpsError('Choose either --workspace <id> or --all.');
  return workspace ?? null;
};

/** A calendar month in UTC, `yyyy-mm`. */
export const parsePeriod = (text: string): string => {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('must be a month such as 2026-04');
};

/** Whose books a command reads: the live ones, unless it says otherwise. */
export const modeOption = (): Option =>
  new Option('--mode <mode>', 'live, or test: the books of test readings, which have no money value')
    .choices([...MODES])
    .default('live');

/** @returns the refusal of a month of which a book has nothing */
const noRecords = (workspace: string, period: string): OpsError =>
  new OpsError(`There are no records of ${workspace} in ${period}.`);

/** What a report says of an event that it passes over by an operator's decision. */
export const passedOver = ({ stream, revision, type, setAside }: UnreadableEntry): string =>
  `Set aside: ${stream}@${revision} (${type}), by ${setAside?.by}: ${setAside?.reason}`;

export const addBalance = (ledger: Command): void => {
  ledger
    .command('balance')
    .description('balance of a workspace, computed from its ledger')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--as-of <instant|revision>', 'at this time or revision of the past, instead of now', parseAsOf)
    .addOption(modeOption())
    .addHelpText('after', '\nExample:\n  ops ledger balance --workspace ws_… --as-of 2026-04-30T12:00:00Z')
    .action(async (options: { workspace: string; asOf?: AsOf; mode: Mode }, command: Command) => {
      const { workspace, asOf, mode } = options;
      const livemode = mode === 'live';
      const balance = await withWorkspace(workspace, async ({ queries, store, time }) => {
        if (asOf) await requirePast({ store, time }, bookStream(workspace, livemode), asOf);
        return queries.execute(new GetBalance(workspace, livemode, asOf));
      });
      const book = mode === 'test' ? 'test book' : 'credit book';
      if (!balance)
        throw new OpsError(`The workspace ${workspace} has no ${book}${asOf ? ' at that time' : ''}.`);
      print(command, balance, table(['account', 'credits'], Object.entries(balance)));
    });
};

/** @throws OpsError for a revision that the book does not have yet, or an instant that is yet to come */
export const requirePast = async (
  { store, time }: { readonly store: Pick<EventStore, 'read'>; readonly time: Pick<TrustedTime, 'now'> },
  book: string,
  asOf: AsOf,
): Promise<void> => {
  if ('instant' in asOf) {
    const now = await time.now();
    if (asOf.instant > now)
      throw new OpsError(
        `--as-of must not be in the future: it is ${new Date(now).toISOString()}, and what comes then is not known.`,
      );
    return;
  }
  for await (const { revision } of store.read(book, { direction: 'backwards', limit: 1 }))
    if (asOf.revision > revision)
      throw new OpsError(
        `--as-of must be a revision from 0 to ${revision}, the last of this book, or a time such as 2026-04-30.`,
      );
};

function parseAsOf(text: string): AsOf {
  return /^\d{1,19}$/.test(text) ? { revision: BigInt(text) } : { instant: parseInstant(text) };
}

interface StatementOptions {
  readonly workspace: string;
  readonly period?: string;
  readonly format: 'text' | 'pdf';
  readonly out?: string;
  readonly mode: Mode;
}

export const addStatement = (ledger: Command): void => {
  ledger
    .command('statement')
    .description('every movement of a workspace, oldest first; of one month with opening, closing and grants')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--period <yyyy-mm>', 'one month (UTC)', parsePeriod)
    .addOption(
      new Option('--format <format>', 'pdf: as the portal prints it for the customer')
        .choices(['text', 'pdf'])
        .default('text'),
    )
    .option('--out <file>', 'the new file to write (pdf only)')
    .addOption(modeOption())
    .addHelpText('after', '\nExample:\n  ops ledger statement --workspace ws_… --period 2026-04')
    .action(async (options: StatementOptions, command: Command) => {
      const { workspace, period, format, out, mode } = options;
      const livemode = mode === 'live';
      if (format === 'pdf' && !livemode)
        throw new OpsError('A test book has no PDF statement: leave out --format.');
      if (format === 'pdf' && (period === undefined || out === undefined))
        throw new OpsError(
          'A PDF covers one month and goes to a file: add --period <yyyy-mm> and --out <file>.',
        );
      await withWorkspace(workspace, async ({ queries }) => {
        if (format === 'pdf') {
          const name = (await queries.execute(new GetWorkspace(workspace)))?.name ?? null;
          const asked = { language: 'en', paper: 'a4', workspaceName: name } as const;
          const printed = await queries.execute(new TypesetCustomerStatement(workspace, period!, asked));
          if (printed.outcome === 'none') throw noRecords(workspace, period!);
          if (printed.outcome === 'busy')
            throw new OpsError('It takes too long to typeset: ops ledger export has the month as CSV.');
          const { pdf } = printed;
          await writeNewFile(out!, async (write) => write(pdf));
          print(command, { out, bytes: pdf.byteLength }, `Wrote ${pdf.byteLength} bytes to ${out}`);
        } else if (period === undefined) {
          const entries = await queries.execute(new GetLedger(workspace, livemode));
          print(command, { workspaceId: workspace, entries }, movements(entries));
        } else {
          const statement = await queries.execute(new GetMonthlyStatement(workspace, period, livemode));
          if (!statement) throw noRecords(workspace, period);
          print(command, statement, describeStatement(statement));
        }
      });
    });
};

const describeStatement = ({ workspaceId, period, closed, ...statement }: MonthlyStatement) => {
  const { opening, totals, closing, entries, grants, money } = statement;
  return [
    `${workspaceId}, ${period} (${closed ? 'closed' : 'open'})`,
    '',
    accountTable(opening, (account) => totals[account], closing),
    '',
    ...(money ? [moneyTable(money), ''] : []),
    movements(entries),
    '',
    tableOf(grants, {
      grant: 'grantId',
      price: 'priceCents',
      opening: 'opening',
      granted: 'granted',
      reserved: 'reserved',
      released: 'released',
      consumed: 'consumed',
      expired: 'expired',
      removed: 'removed',
      closing: 'closing',
    }),
  ];
};

/** What each account held, lost and gained. */
export const accountTable = (
  opening: Accounts,
  moved: (account: keyof Accounts) => { readonly debit: number; readonly credit: number },
  closing: Accounts,
): string =>
  tableOf(Object.keys(opening) as (keyof Accounts)[], {
    account: (account) => account,
    opening: (account) => opening[account],
    out: (account) => moved(account).debit,
    in: (account) => moved(account).credit,
    closing: (account) => closing[account],
  });

/** Deferred value over the month, in whole minor units. */
export const moneyTable = (money: Money): string =>
  table(
    [`${money.currency}, minor units`, 'amount'],
    [
      ['deferred opening', money.opening],
      ['sales', money.sales],
      ['earned', -money.earned],
      ['breakage', -money.breakage],
      ['corrections', -money.corrections],
      ['refunds', -money.refunds],
      ['deferred closing', money.closing],
    ],
  );

const movements = (entries: readonly LedgerEntry[]): string =>
  tableOf(entries, {
    revision: 'revision',
    at: 'occurredAt',
    event: 'type',
    movement: (entry) => entry.unreadable ?? movement(entry.postings),
    available: 'availableAfter',
    held: 'heldAfter',
    reading: 'readingId',
    reference: 'reference',
    actor: 'actor',
  });

/** Postings as text for people: `available -20, held +20`. */
const movement = (postings: readonly { readonly account: string; readonly amount: number }[]): string =>
  postings.map(({ account, amount }) => `${account} ${amount > 0 ? '+' : ''}${amount}`).join(', ');

export const addExplain = (ledger: Command): void => {
  ledger
    .command('explain')
    .description('every credit movement of a reading and its cause; exit code 1 when they do not match')
    .argument('<reading>', 'the reading id')
    .option('--workspace <id>', 'its workspace: required only for a reading that was never accepted')
    .addHelpText('after', '\nExample:\n  ops ledger explain 0198c5f2-… --json')
    .action(async (readingId: string, { workspace }: { workspace?: string }, command: Command) => {
      const explanation = await withSession(({ queries }) =>
        queries.execute(new ExplainReading(readingId, workspace ?? null)),
      );
      if (!explanation) throw new OpsError(`There is no reading ${readingId}, and no credits moved for it.`);
      print(command, explanation, describeExplanation(explanation), explanation.findings.length > 0);
    });
};

/** `20 of pack:INV-7 (9.90 USD)` */
const paid = ({ grantId, credits, cents }: ReadingExplanation['credits'][number]['paidBy'][number]): string =>
  `${credits} of ${grantId} (${(cents / 100).toFixed(2)} ${CURRENCY})`;

const describeExplanation = (explanation: ReadingExplanation) => {
  const { readingId, workspaceId, outcome, reading, credits, findings, setAside } = explanation;
  return [
    `Reading ${readingId} of ${workspaceId}: ${outcome}`,
    '',
    tableOf(credits, {
      'credits event': 'type',
      'event id': 'eventId',
      at: 'occurredAt',
      movement: ({ postings }) => movement(postings),
      'paid by': ({ paidBy }) => paidBy.map(paid).join(', '),
      'caused by': causeOf,
    }),
    '',
    tableOf(reading, {
      'reading event': 'type',
      'event id': 'eventId',
      at: 'occurredAt',
      'moved credits by': ({ causes }) => causes.join(', '),
    }),
    ...setAside.map(passedOver),
    ...findings.map((finding) => `Finding: ${finding}`),
  ];
};

/** What caused a movement of a reading, or what is known of that. */
export const causeOf = (
  moved: Pick<ExplainedMovement, 'type' | 'cause' | 'causationId' | 'correlationId'>,
): string => {
  const { type, cause, causationId, correlationId } = moved;
  if (cause) return `${cause.type} ${cause.eventId}`;
  if (type === 'CreditsReserved')
    return `unknown: no event of the reading names it${correlationId && ` (request ${correlationId})`}`;
  return `unknown: ${causationId ? `${causationId} is no event of the reading` : 'no event of the reading'}`;
};

export const addFind = (ledger: Command): void => {
  ledger
    .command('find')
    .description('entries of all books with this reference, order or id of a correction')
    .argument('<reference>', 'the reference, exactly as it was given, or the id of a correction')
    .addHelpText('after', '\nExample:\n  ops ledger find INC-42')
    .action(async (reference: string, _: object, command: Command) => {
      const entries = await withSession(({ queries }) =>
        withProgress('find', (progress) => queries.execute(new FindLedgerEntries(reference, progress))),
      );
      if (entries.length === 0) throw new OpsError(`No entry has the reference or correction ${reference}.`);
      const text = tableOf(entries, {
        workspace: 'workspaceId',
        revision: 'revision',
        at: 'occurredAt',
        event: 'type',
        credits: 'credits',
        by: ({ actor }) => actor || 'unknown',
        'approved by': 'approvedBy',
        correction: 'correctionId',
        reason: ({ unreadable, reason }) => unreadable ?? reason,
        'event id': 'eventId',
      });
      print(command, { reference, entries }, text);
    });
};

interface ExportOptions {
  readonly workspace: string;
  readonly format: 'csv' | 'jsonl';
  readonly period?: string;
  readonly out?: string;
}

export const addExport = (ledger: Command): void => {
  ledger
    .command('export')
    .description('a book as text, one row per posting: csv for spreadsheets, jsonl for verify-file')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--format <format>', 'csv or jsonl').choices(['csv', 'jsonl']).default('jsonl'))
    .option('--period <yyyy-mm>', 'one month (UTC) with its close, as its seal covers it', parsePeriod)
    .option('--out <file>', 'write to this new file, readable only by you, instead of standard output')
    .addHelpText(
      'after',
      '\nExample:\n  ops ledger export --workspace ws_… --period 2026-04 --out april.jsonl',
    )
    .action(async (options: ExportOptions, command: Command) => {
      const { workspace, format, period = null, out } = options;
      const written = await withWorkspace(workspace, ({ queries }) =>
        withProgress('export', async (progress) => {
          const book = await queries.execute(new ExportLedger(workspace, format, period, progress));
          const text = period === null ? book.text : withRecords(book.text, workspace, period);
          if (out === undefined) await pipeline(Readable.from(shown(text)), process.stdout, { end: false });
          else
            await writeNewFile(out, async (write) => {
              for await (const part of text) write(Buffer.from(part));
            });
          return book.footer();
        }),
      );
      if (out === undefined) return;
      const { events, postings, unreadable, headHash } = written;
      const rest = unreadable ? `; ${unreadable.entries} entries are shown and not interpreted` : '';
      const text = `Wrote ${events} events with ${postings} postings to ${out}; head hash ${headHash}${rest}`;
      print(command, { out, ...written }, text);
    });
};

type Text = AsyncIterable<string>;

/** @throws OpsError when nothing is recorded of the month */
async function* withRecords(text: Text, workspace: string, period: string): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const part of text) {
    isEmpty = false;
    yield part;
  }
  if (isEmpty) throw noRecords(workspace, period);
}

/** Writes exact bytes to a pipe or a file, because they may be verified. A terminal gets escaped text. */
async function* shown(text: Text): AsyncGenerator<string> {
  for await (const part of text) yield process.stdout.isTTY ? printableLines(part) : part;
}
