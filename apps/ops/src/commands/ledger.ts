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
  ReconcileLedger,
  VerifyLedger,
  type LedgerDifference,
  type LedgerVerification,
  CloseMonth,
  type CloseMonthResult,
} from '#billing/contracts/index.js';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { printableLines } from '#platform/text/printable.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { GetWorkspace } from '#workspaces/contracts/index.js';
import { writeNewFile, writeNewFiles } from '../new-file.js';
import { OpsError, print, table, tableOf, withProgress } from '../output.js';
import { withSession, withWorkspace } from '../session.js';
import { example, parseInstant, wholeFrom, wholeNumber } from './options.js';
import { execFile } from 'node:child_process';
import { projectPath } from '#platform/project-path.js';
import { describeCompensated, readPrivateKey } from './corrections.js';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { handoverOf } from '#billing/offline.js';

interface Chosen {
  readonly workspace?: string;
  readonly all?: true;
}

/** The workspace, or `null` for all. @throws OpsError unless exactly one of the two was chosen */
const chosenWorkspace = ({ workspace, all }: Chosen): string | null => {
  if ((workspace === undefined) === (all === undefined))
    throw new OpsError('Choose either --workspace <id> or --all.');
  return workspace ?? null;
};

/** A calendar month in UTC, `yyyy-mm`. */
const parsePeriod = (text: string): string => {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('must be a month such as 2026-04');
};

/** Whose books a command reads: the live ones, unless it says otherwise. */
const modeOption = (): Option =>
  new Option('--mode <mode>', 'live, or test: the books of test readings, which have no money value')
    .choices([...MODES])
    .default('live');

/** @returns the refusal of a month of which a book has nothing */
const noRecords = (workspace: string, period: string): OpsError =>
  new OpsError(`There are no records of ${workspace} in ${period}.`);

/** What a report says of an event that it passes over by an operator's decision. */
const passedOver = ({ stream, revision, type, setAside }: UnreadableEntry): string =>
  `Set aside: ${stream}@${revision} (${type}), by ${setAside?.by}: ${setAside?.reason}`;

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
const accountTable = (
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
const moneyTable = (money: Money): string =>
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
const causeOf = (
  moved: Pick<ExplainedMovement, 'type' | 'cause' | 'causationId' | 'correlationId'>,
): string => {
  const { type, cause, causationId, correlationId } = moved;
  if (cause) return `${cause.type} ${cause.eventId}`;
  if (type === 'CreditsReserved')
    return `unknown: no event of the reading names it${correlationId && ` (request ${correlationId})`}`;
  return `unknown: ${causationId ? `${causationId} is no event of the reading` : 'no event of the reading'}`;
};

interface ExportOptions {
  readonly workspace: string;
  readonly format: 'csv' | 'jsonl';
  readonly period?: string;
  readonly out?: string;
}

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

const describeVerification = ({ books, corrections, compensated }: LedgerVerification) => [
  tableOf(books, {
    workspace: 'workspaceId',
    events: 'events',
    findings: ({ findings }) => findings.length,
    'first bad': 'firstBadRevision',
    'head hash': 'headHash',
  }),
  ...books.flatMap(({ workspaceId, setAside }) => setAside.map((one) => `${workspaceId} ${passedOver(one)}`)),
  ...books.flatMap(({ workspaceId, findings }) =>
    findings.map(
      ({ revision, check, message }) => `${workspaceId} revision ${revision}: ${check}: ${message}`,
    ),
  ),
  ...corrections.map((one) => `${one.stream} revision ${one.revision}: correction: ${one.message}`),
  ...compensated.map(describeCompensated),
];

/** Settlement follows a completed reading within seconds, unless the worker is behind. */
const GRACE_S = 60;

const describeDifferences = (title: string, found: readonly LedgerDifference[]): readonly string[] => {
  if (found.length === 0) return [];
  const listed = tableOf(found, {
    workspace: 'workspaceId',
    reading: 'readingId',
    'credits event': 'creditsEventId',
    'reading event': 'readingEventId',
    what: 'message',
  });
  return ['', title, listed];
};

interface FileOptions {
  readonly operators?: string;
  readonly month?: string;
  readonly publicKey?: string;
  readonly handover?: readonly string[];
}

/** The answer about an export has what a month says of itself only in `ok`. */
const inOne = (lines: string): object => {
  const checked = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly ok: boolean });
  return { ...checked.at(-1), ok: checked.every(({ ok }) => ok) };
};

const run = (args: readonly string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const limits = { maxBuffer: 64 * 2 ** 20 };
    execFile(process.execPath, args, limits, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, stdout, stderr }),
    );
  });

const KEYGEN = 'ops ledger keygen';

/** Runs work on a file. @throws OpsError that names the file */
const onFile = <T>(path: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof OpsError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OpsError(code === 'ENOENT' ? `There is no ${path}.` : `${path} cannot be used: ${message}`);
  }
};

/** As in `ledger reconcile`. */
const GRACE_MS = 60_000;
/** Missing books that the text names. */
const MOST_SHOWN = 20;

interface MonthOptions {
  readonly period: string;
  readonly key: string;
  readonly out: string;
  readonly wait: number;
  readonly replace?: boolean;
}

type NotRight = Extract<CloseMonthResult, { outcome: 'not_right' }>;

/** Books that are not right, or a view that is behind: a row that is missing names the command that makes it again. */
const describeNotRight = (period: string, { problems, differences, view }: NotRight): readonly string[] => {
  if (view === null) {
    const columns = { workspace: 'workspaceId', revision: 'revision', problem: 'message' } as const;
    return [
      `${period} is not sealed: ${problems.length} books are not right, reconcile found ${differences.length} differences.`,
      ...(problems.length === 0 ? [] : [tableOf(problems, columns)]),
      ...(differences.length === 0 ? [] : ['ops ledger reconcile --all lists the differences.']),
    ];
  }
  const missing = differences.filter(({ kind }) => kind === 'balance_missing');
  return [
    `${period} is not sealed: the books are right, but the view ${view} is behind ${differences.length - missing.length} of them and lacks ${missing.length}.`,
    'ops projections status shows how far it is, and ops doctor why. Then repeat this command, with a longer --wait if need be.',
    ...missing.slice(0, MOST_SHOWN).map(({ workspaceId, message }) => `${workspaceId}: ${message}`),
  ];
};

type Sealed = Extract<CloseMonthResult, { outcome: 'sealed' }>;

const describeSealed = ({ manifest, sums, setAside, notes }: Sealed, archive: string): readonly string[] => {
  const { opening, debit, credit, closing, money } = sums;
  return [
    `Sealed ${manifest.books} books of ${manifest.period}; Merkle root ${manifest.merkleRoot}`,
    ...(manifest.books === 0 ? ['Every book was opened after this month.'] : []),
    '',
    accountTable(opening, (account) => ({ debit: debit[account], credit: credit[account] }), closing),
    '',
    moneyTable(money),
    '',
    ...setAside.map(passedOver),
    ...notes.map(({ workspaceId, revision, message }) => `${workspaceId} revision ${revision}: ${message}`),
    `Archive: ${archive}`,
  ];
};

type Files = ReadonlyMap<string, Uint8Array>;

/**
 * Writes a month: month.json and its signature last, the archive after them. What is there is complete. Somebody may
 * rely on a signed month, so a different one does not take its place.
 * @param packed the files as `packMonth` gives them
 * @param replace replaces a different month
 * @throws OpsError when a different month is there; it stays as it is
 */
export const writeMonth = (
  out: string,
  period: string,
  files: Files,
  packed: Buffer,
  replace: boolean,
): { readonly folder: string; readonly archive: string } => {
  const [folder, archive] = [join(out, period), join(out, `ledger-${period}.tar.gz`)];
  if (!replace) requireSame(folder, archive, files, packed);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of ['month.json', 'month.sig']) rmSync(join(folder, name), { force: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
  writeFileSync(`${archive}.part`, gzipSync(packed), { mode: 0o600 });
  renameSync(`${archive}.part`, archive);
  return { folder, archive };
};

/** An archive (tar). The same files give the same bytes: they belong to nobody, and all have one time. */
export const packMonth = (period: string, files: Files): Promise<Buffer> => {
  const archive = pack();
  const mtime = new Date(`${period}-01`);
  for (const [name, bytes] of files)
    archive.entry({ name: `${period}/${name}`, mode: 0o600, mtime }, Buffer.from(bytes));
  archive.finalize();
  return buffer(archive);
};

const requireSame = (folder: string, archive: string, files: Files, packed: Buffer): void => {
  const signed = join(folder, 'month.json');
  if (existsSync(signed)) {
    if (!readFileSync(signed).equals(files.get('month.json')!)) throw different(folder);
  } else if (existsSync(archive) && !gunzipSync(readFileSync(archive)).equals(packed))
    throw different(archive);
};

const different = (path: string): OpsError =>
  new OpsError(
    `${path} has another signed month. Nothing was written. Choose another folder, or --replace it.`,
  );

/** Commands for finance. All except month only read. */
const addLedgerCommands = (ledger: Command): void => {
  ledger
    .command('balance')
    .description('balance of a workspace, computed from its ledger')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--as-of <instant|revision>', 'at this time or revision of the past, instead of now', parseAsOf)
    .addOption(modeOption())
    .addHelpText('after', example('ledger balance --workspace ws_… --as-of 2026-04-30T12:00:00Z'))
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
    .addHelpText('after', example('ledger statement --workspace ws_… --period 2026-04'))
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

  ledger
    .command('explain')
    .description('every credit movement of a reading and its cause; exit code 1 when they do not match')
    .argument('<reading>', 'the reading id')
    .option('--workspace <id>', 'its workspace: required only for a reading that was never accepted')
    .addHelpText('after', example('ledger explain 0198c5f2-… --json'))
    .action(async (readingId: string, { workspace }: { workspace?: string }, command: Command) => {
      const explanation = await withSession(({ queries }) =>
        queries.execute(new ExplainReading(readingId, workspace ?? null)),
      );
      if (!explanation) throw new OpsError(`There is no reading ${readingId}, and no credits moved for it.`);
      print(command, explanation, describeExplanation(explanation), explanation.findings.length > 0);
    });

  ledger
    .command('find')
    .description('entries of all books with this reference, order or id of a correction')
    .argument('<reference>', 'the reference, exactly as it was given, or the id of a correction')
    .addHelpText('after', example('ledger find INC-42'))
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

  ledger
    .command('verify')
    .description('check hash chain, revisions, invariants and signatures; exit code 1 on any finding')
    .option('--workspace <id>', 'one workspace')
    .option('--all', 'every credit book in the log')
    .addOption(modeOption())
    .addHelpText('after', example('ledger verify --all --json'))
    .action(async (options: Chosen & { mode: Mode }, command: Command) => {
      const workspaceId = chosenWorkspace(options);
      const { mode } = options;
      const found = await withWorkspace(workspaceId, ({ queries }) =>
        withProgress('verify', (progress) =>
          queries.execute(new VerifyLedger(workspaceId, progress, mode === 'live')),
        ),
      );
      const { books, corrections } = found;
      if (workspaceId !== null && books.length === 0)
        throw new OpsError(
          `The workspace ${workspaceId} has no ${mode === 'test' ? 'test' : 'credit'} book.`,
        );
      const ok = corrections.length === 0 && books.every(({ findings }) => findings.length === 0);
      print(command, { ok, ...found }, describeVerification(found), !ok);
    });

  ledger
    .command('reconcile')
    .description('compare captures, completed readings and balances; exit code 1 on any difference')
    .option('--workspace <id>', 'one workspace')
    .option('--all', 'every workspace')
    .option('--grace <seconds>', 'how long a capture or the view may lag', wholeFrom(0, 999_999), GRACE_S)
    .addOption(modeOption())
    .addHelpText('after', example('ledger reconcile --all --json'))
    .action(async (options: Chosen & { grace: number; mode: Mode }, command: Command) => {
      const workspaceId = chosenWorkspace(options);
      const { grace, mode } = options;
      const result = await withWorkspace(workspaceId, ({ queries }) =>
        withProgress('reconcile', (progress) =>
          queries.execute(new ReconcileLedger(workspaceId, grace * 1_000, progress, mode === 'live')),
        ),
      );
      const { books, captures, completed, differences, pending, setAside, compensated } = result;
      const text = [
        `${books} books, ${completed} completed readings, ${captures} captures: ${differences.length} differences, ${pending.length} pending`,
        ...describeDifferences('Differences', differences),
        ...describeDifferences('Pending', pending),
        ...setAside.map(passedOver),
        ...compensated.map(describeCompensated),
      ];
      const ok = differences.length === 0;
      print(command, { ok, ...result }, text, !ok);
    });

  ledger
    .command('export')
    .description('a book as text, one row per posting: csv for spreadsheets, jsonl for verify-file')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--format <format>', 'csv or jsonl').choices(['csv', 'jsonl']).default('jsonl'))
    .option('--period <yyyy-mm>', 'one month (UTC) with its close, as its seal covers it', parsePeriod)
    .option('--out <file>', 'write to this new file, readable only by you, instead of standard output')
    .addHelpText('after', example('ledger export --workspace ws_… --period 2026-04 --out april.jsonl'))
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

  // Runs the auditor's program, which imports nothing of this one. Without a connection: the files alone decide.
  ledger
    .command('verify-file')
    .description('check a jsonl export or a month offline; exit code 1 on any finding')
    .argument('[export]', 'a file from ops ledger export --format jsonl')
    .option('--operators <file>', 'the setting OPERATORS, whose keys must have signed each correction')
    .option('--month <folder>', 'the unpacked archive of ops ledger month')
    .option('--public-key <file>', 'the public key (PEM) that must verify the month')
    .option('--handover <file...>', 'a key handover that the public key signed')
    .addHelpText('after', example('ledger verify-file --month 2026-04 --public-key seal-public.pem'))
    .action(async (file: string | undefined, options: FileOptions, command: Command) => {
      const { operators, month, publicKey, handover = [] } = options;
      const isJson = command.optsWithGlobals<{ json?: boolean }>().json === true;
      const given = Object.entries({ operators, month, 'public-key': publicKey });
      const { code, stdout, stderr } = await run([
        projectPath('tools', 'verify-ledger.mjs'),
        ...(isJson ? ['--json'] : []),
        ...given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
        ...handover.map((one) => `--handover=${one}`),
        ...(file === undefined ? [] : ['--', file]),
      ]);
      if (stdout === '') throw new OpsError(stderr.trim());
      print(command, isJson ? inOne(stdout) : {}, stdout.trimEnd(), code !== 0);
    });

  ledger
    .command('month')
    .description(
      'close, verify, reconcile and seal a past month of all books; exit code 1 when one is not right',
    )
    .requiredOption('--period <yyyy-mm>', 'the month (UTC)', parsePeriod)
    .requiredOption('--all', 'every book')
    .requiredOption('--key <file>', 'the private key from ops ledger keygen')
    .requiredOption('--out <folder>', 'an existing folder for the month and its archive')
    .option('--wait <seconds>', 'how long the balance view may take to catch up', wholeNumber, 60)
    .option('--replace', 'replace a different month that an earlier run signed; keep a copy of it first')
    .addHelpText(
      'after',
      `
Safe to repeat: what is closed stays closed, and the same month and key give the same seals. The reconciliation covers
the log up to now, so a later run may sign a different month. It does not replace the earlier one without --replace.

Example:
  ops ledger month --period 2026-10 --all --key seal-private.pem --out closings`,
    )
    .action(async ({ period, key, out, wait, replace = false }: MonthOptions, command: Command) => {
      const privateKey = readPrivateKey(key, KEYGEN);
      const result = await withSession(({ commands, by, config: { LEDGER_ACCOUNTS } }) =>
        withProgress('month', (progress) =>
          commands.execute(
            new CloseMonth(period, privateKey, GRACE_MS, wait * 1_000, LEDGER_ACCOUNTS, by, progress),
          ),
        ),
      );
      if (result.outcome === 'not_over')
        throw new OpsError(`The month ${period} is not over. Nothing was closed.`);
      if (result.outcome === 'not_right') {
        const { problems, differences, view } = result;
        const found = { ok: false, period, problems, differences, view };
        return print(command, found, describeNotRight(period, result), true);
      }
      const { manifest, closedNow, setAside, notes, files } = result;
      const packed = await packMonth(period, files);
      const written = onFile(out, () => writeMonth(out, period, files, packed, replace));
      const value = { ok: true, ...written, closedNow, ...manifest, setAside, notes };
      print(command, value, describeSealed(result, written.archive));
    });

  ledger
    .command('keygen')
    .description('create a key pair for seals: seal-private.pem for you only, seal-public.pem for auditors')
    .requiredOption('--out <dir>', 'a folder, made if it is missing')
    .option('--previous <file>', 'the private key that this one replaces: it signs seal-handover.json')
    .addHelpText('after', example('ledger keygen --out ~/seals-2027'))
    .action(async ({ out, previous }: { out: string; previous?: string }, command: Command) => {
      const oldKey = previous === undefined ? null : readPrivateKey(previous, KEYGEN);
      const pair = generateKeyPairSync('ed25519', {
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      });
      const files = {
        privateKey: join(out, 'seal-private.pem'),
        publicKey: join(out, 'seal-public.pem'),
        ...(oldKey && { handover: join(out, 'seal-handover.json') }),
      };
      const handover = oldKey && `${JSON.stringify(handoverOf(oldKey, pair.publicKey), null, 2)}\n`;
      // Never overwrites an existing key, because its seals could not be made again.
      await writeNewFiles([
        { path: files.privateKey, text: pair.privateKey, isPublic: false },
        { path: files.publicKey, text: pair.publicKey, isPublic: true },
        ...(handover ? [{ path: files.handover!, text: handover, isPublic: true }] : []),
      ]);
      print(command, files, `Wrote ${Object.values(files).join(', ')}`);
    });
};

/** By the names of the commands. */
export const commands = { ledger: addLedgerCommands };
