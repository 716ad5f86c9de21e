import type { Command } from 'commander';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { instant } from '#event-sourcing/core/clock.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import {
  GetCorrection,
  ListCorrections,
  RecordCorrection,
  type CompensatedEntry,
  type Correction,
  type CorrectionEntry,
  type CorrectionEvent,
  type CorrectionKind,
  type CorrectionResult,
  type EntryValue,
} from '#billing/contracts/index.js';
import { parseOperators, publicKeyOf, readSealKey, signText, textsToSign } from '#billing/offline.js';
import { writeNewFiles } from '../new-file.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { someText } from './options.js';

/** A proposal that nobody approved by then has expired (milliseconds). */
const OPEN_FOR_MS = 7 * 86_400_000;
/** Permissions of anyone but the owner. */
const OTHERS = 0o077;

/** For commands that sign. */
const KEY_OPTION = ['--key <file>', 'your private key; default: OPERATOR_KEY_FILE'] as const;

/** Corrections of credit books: one operator proposes, another one approves. */
export const addCorrectionsCommands = (corrections: Command): void => {
  for (const add of [addList, addShow, addApprove, addReject, addKeygen]) add(corrections);
};

const addList = (corrections: Command): void => {
  corrections
    .command('list')
    .description('all corrections, newest first')
    .addHelpText('after', '\nExample:\n  ops corrections list')
    .action(async (_: object, command: Command) => {
      const found = await withSession(({ queries }) => queries.execute(new ListCorrections()));
      const names = ['correction', 'status', 'kind', 'credits', 'reference', 'proposed by', 'approved by'];
      const rows = found.map((one) => [
        ...[one.correctionId, one.status, one.kind, one.credits, one.reference, one.proposedBy],
        one.approvedBy ?? '',
      ]);
      print(command, { corrections: found }, rows.length === 0 ? 'There are none.' : table(names, rows));
    });
};

const find = async ({ queries }: Session, id: string): Promise<Correction> => {
  const correction = await queries.execute(new GetCorrection(id));
  if (!correction) throw new OpsError(`There is no correction ${id}: ops corrections list shows them.`);
  return correction;
};

const addShow = (corrections: Command): void => {
  corrections
    .command('show <id>')
    .description('one correction with its entries and operators')
    .addHelpText('after', '\nExample:\n  ops corrections show 4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f')
    .action(async (id: string, _: object, command: Command) => {
      const correction = await withSession((session) => find(session, id));
      print(command, correction, describeCorrection(correction));
    });
};

const addApprove = (corrections: Command): void => {
  corrections
    .command('approve <id>')
    .description('sign a proposal as the second operator, and book it')
    .option(...KEY_OPTION)
    .option('--yes', 'approve; without this, only show what would be approved')
    .addHelpText(
      'after',
      `
Look first, without --yes. Repeating the command is safe: it books what an interrupted run has left. Exit code 1 when a
book refuses.

Examples:
  ops corrections approve 4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f
  ops corrections approve 4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f --key ~/.keys/grace-private.pem --yes`,
    )
    .action(async (id: string, { key, yes }: { key?: string; yes?: true }, command: Command) => {
      const answer = await withSession(async (session) => {
        const correction = await find(session, id);
        if (!yes) return { outcome: 'not_approved' as const, correction };
        const { operator, sign } = signerOf(session, key);
        const { correctionId, proposedBy, entries } = correction;
        const texts = textsToSign({ correctionId, operator: proposedBy, entries });
        const data = { correctionId, operator, signatures: texts.map(sign) };
        return record(session, { type: 'CorrectionApproved', data });
      }, HARMLESS_TO_REPEAT);
      const { correction } = answer;
      if (answer.outcome === 'not_approved')
        return print(
          command,
          answer,
          `${describeCorrection(correction)}\nTo approve it: ${approvalOf(correction)}`,
        );
      const refused = answer.refusals.map(({ message }) => `Not booked: ${message}.`);
      print(command, answer, [describeCorrection(correction), ...refused].join('\n'));
      if (refused.length > 0) process.exitCode = 1;
    });
};

const addReject = (corrections: Command): void => {
  corrections
    .command('reject <id>')
    .description('end a proposal that nobody approved; needs no key, and is recorded with your name')
    .requiredOption('--reason <text>', 'why', someText)
    .addHelpText('after', '\nExample:\n  ops corrections reject 4f1c2e9d-… --reason "wrong workspace"')
    .action(async (correctionId: string, { reason }: { reason: string }, command: Command) => {
      const data = { correctionId, reason };
      const { correction } = await withSession(
        (session) => record(session, { type: 'CorrectionRejected', data }),
        HARMLESS_TO_REPEAT,
      );
      print(command, correction, describeCorrection(correction));
    });
};

const addKeygen = (corrections: Command): void => {
  corrections
    .command('keygen')
    .description('make the key of an operator: a private key for them only, and their part of OPERATORS')
    .requiredOption('--name <name>', 'the operator, such as ada', someText)
    .requiredOption('--out <dir>', 'a folder, made if it is missing')
    .addHelpText('after', '\nExample:\n  ops corrections keygen --name ada --out ~/.keys')
    .action(async ({ name, out }: { name: string; out: string }, command: Command) => {
      const { privateKey } = generateKeyPairSync('ed25519');
      const operator = `${name}:${publicKeyOf(privateKey)}`;
      if (!isOperator(operator))
        throw new OpsError(`${name} is no name of an operator: use a–z, 0–9, dots and dashes, such as ada.`);
      const path = join(out, `${name}-private.pem`);
      const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      await writeNewFiles([{ path, text, isPublic: false }]);
      print(command, { privateKey: path, operator }, `Wrote ${path}\nFor OPERATORS: ${operator}`);
    });
};

const isOperator = (text: string): boolean => {
  try {
    return parseOperators(text).length === 1;
  } catch {
    return false;
  }
};

type Recorded = Exclude<CorrectionResult, { outcome: 'refused' }>;

const record = async (session: Session, event: CorrectionEvent): Promise<Recorded> => {
  const result = await session.commands.execute(new RecordCorrection(event, session.by()));
  if (result.outcome === 'refused') throw new OpsError(`${result.refusal.message}. Nothing changed.`);
  return result;
};

interface Signer {
  readonly operator: string;
  readonly sign: (text: string) => string;
}

/** The operator whose key it is. @throws OpsError unless OPERATORS names the key, which only its owner can read */
const signerOf = ({ config }: Pick<Session, 'config'>, file = config.OPERATOR_KEY_FILE): Signer => {
  if (file === undefined)
    throw new OpsError('This needs an operator’s signature: set OPERATOR_KEY_FILE, or add --key <file>.');
  const key = readKey(file);
  const publicKey = publicKeyOf(key);
  const own = config.OPERATORS.find((one) => one.publicKey === publicKey);
  if (own?.state !== 'active')
    throw new OpsError(
      `OPERATORS names the key in ${file} ${own ? 'as retired' : 'nowhere'}. Nothing changed.`,
    );
  return { operator: own.name, sign: (text) => signText(text, key) };
};

const readKey = (path: string): KeyObject => {
  let text: string;
  try {
    if ((statSync(path).mode & OTHERS) !== 0)
      throw new OpsError(`Others can read ${path}: run chmod 600 ${path}. Nothing was signed.`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof OpsError) throw error;
    throw new OpsError(`The key ${path} cannot be read: ${(error as Error).message}.`);
  }
  const key = readSealKey(text);
  if (!key) throw new OpsError(`${path} has no Ed25519 private key: ops corrections keygen makes one.`);
  return key;
};

/** Options of every command that proposes a correction. */
export interface ProposalOptions {
  readonly key?: string;
}

export const addProposalOptions = (command: Command): Command => command.option(...KEY_OPTION);

export interface Proposal {
  readonly outcome: 'proposed' | 'already_proposed';
  readonly correction: Correction;
}

/** Signs a proposal and records it. @param scope the workspace, or what else keeps equal references apart */
export const propose = async (
  session: Session,
  kind: CorrectionKind,
  content: {
    readonly scope: string;
    readonly reason: string;
    readonly reference: string;
    readonly entries: readonly CorrectionEntry[];
  },
  { key }: ProposalOptions,
): Promise<Proposal> => {
  const { scope, reason, reference } = content;
  const { operator, sign } = signerOf(session, key);
  const correctionId = uuid5('correction', kind, scope, reference);
  const expiresAt = instant((await session.time.now()) + OPEN_FOR_MS);
  const entries = [...content.entries];
  const signatures = textsToSign({ correctionId, operator, entries }).map(sign);
  const data = { correctionId, kind, reason, reference, entries, expiresAt, operator, signatures };
  const { outcome, correction } = await record(session, { type: 'CorrectionProposed', data });
  return { outcome: outcome === 'recorded' ? 'proposed' : 'already_proposed', correction };
};

export const printProposal = (command: Command, proposal: Proposal): void => {
  const { correction } = proposal;
  const next =
    correction.status === 'proposed'
      ? `\nNothing is booked yet. Another operator approves it: ${approvalOf(correction)}`
      : '';
  print(command, proposal, `${describeCorrection(correction)}${next}`);
};

/** An entry that only changes a balance. */
export const entryOf = (
  entry: Pick<CorrectionEntry, 'workspaceId' | 'amount' | 'reason' | 'reference'> & Partial<CorrectionEntry>,
): CorrectionEntry => ({ reversesEventId: null, grantId: null, expiresAt: null, ...entry });

export const approvalOf = ({ correctionId }: Pick<Correction, 'correctionId'>): string =>
  `ops corrections approve ${correctionId} --yes`;

/** An entry that is no finding any more. */
export const describeCompensated = ({ stream, revision, message, compensatedBy }: CompensatedEntry): string =>
  `${stream} revision ${revision}: ${message}; compensated by ${compensatedBy}`;

/** Everything that an approver must see. */
export const describeCorrection = (correction: Correction): string => {
  const { correctionId, status, kind, reason, reference, credits, entries } = correction;
  const { proposedBy, approvedBy, rejected, expiresAt } = correction;
  return [
    `Correction ${correctionId} (${kind.replace('_', ' ')}) is ${status}.`,
    `Reference ${reference}; ${credits} credits in ${entries.length} entries; reason: ${reason}`,
    `Proposed by ${proposedBy}; to be approved before ${expiresAt}`,
    ...(approvedBy === null ? [] : [`Approved by ${approvedBy}`]),
    ...(rejected === null ? [] : [`Rejected: ${rejected}`]),
    '',
    table(
      ['workspace', 'credits', 'US dollars', 'grant', 'expires', 'reverses', 'reference', 'booked', 'reason'],
      entries.map((one) => [
        one.workspaceId,
        one.amount,
        one.value ? dollars(-one.value.cents) : '',
        one.grantId ?? '',
        one.expiresAt ?? '',
        one.reversesEventId ?? '',
        one.reference,
        one.booked ? 'yes' : 'no',
        one.reason,
      ]),
    ),
    ...describeValues(entries.flatMap(({ value }) => value ?? [])),
  ].join('\n');
};

const dollars = (cents: number): string => (cents / 100).toFixed(2);

/** What finance has to pay back, and by how much income changes. */
const describeValues = (values: readonly EntryValue[]): string[] => {
  const sums = new Map<string, number>();
  for (const { as, of, cents } of values) {
    const label = as === 'refunds' ? `to pay back for ${of}` : INCOME[as];
    sums.set(label, (sums.get(label) ?? 0) + cents);
  }
  return [...sums].flatMap(([label, cents]) => (cents === 0 ? [] : `US dollars ${label}: ${dollars(cents)}`));
};

const INCOME = {
  earned: 'earned by readings',
  breakage: 'of expired credits',
  corrections: 'withdrawn without money back',
};
