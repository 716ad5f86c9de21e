import type { Command } from 'commander';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { CloseMonth, type CloseMonthResult } from '#billing/contracts/index.js';
import { handoverOf } from '#billing/offline.js';
import { writeNewFiles } from '../../new-file.js';
import { OpsError, print, tableOf, withProgress } from '../../output.js';
import { withSession } from '../../session.js';
import { readPrivateKey } from '../corrections.js';
import { wholeNumber } from '../options.js';
import { accountTable, moneyTable, parsePeriod, passedOver } from './reports.js';

const KEYGEN = 'ops ledger keygen';

export const addKeygen = (ledger: Command): void => {
  ledger
    .command('keygen')
    .description('create a key pair for seals: seal-private.pem for you only, seal-public.pem for auditors')
    .requiredOption('--out <dir>', 'a folder, made if it is missing')
    .option('--previous <file>', 'the private key that this one replaces: it signs seal-handover.json')
    .addHelpText('after', '\nExample:\n  ops ledger keygen --out ~/seals-2027')
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

export const addMonth = (ledger: Command): void => {
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
};

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
