import type { Command } from 'commander';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { instant } from '#event-sourcing/core/clock.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import {
  FindCorrections,
  RecordCorrection,
  type CompensatedEntry,
  type Correction,
  type CorrectionEntry,
  type CorrectionEvent,
  type CorrectionData,
} from '#billing/contracts/index.js';
import { parseOperators, publicKeyOf, readSealKey, signText, textsToSign } from '#billing/offline.js';
import { writeNewFiles } from '../new-file.js';
import { OpsError, print, tableOf } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { example, someText } from './options.js';

/** A proposal that nobody approved by then has expired (milliseconds). */
const OPEN_FOR_MS = 7 * 86_400_000;
/** Permissions of anyone but the owner. */
const OTHERS = 0o077;

/** Of commands that sign. */
export const KEY_OPTION = ['--key <file>', 'your private key; default: OPERATOR_KEY_FILE'] as const;

/** Corrections of credit books: one operator proposes, another one approves. */
const addCorrectionsCommands = (corrections: Command): void => {
  corrections
    .command('list')
    .description('all corrections, newest first')
    .addHelpText('after', example('corrections list'))
    .action(async (_: object, command: Command) => {
      const found = await withSession(({ queries }) => queries.execute(new FindCorrections()));
      const text = tableOf(found, {
        correction: 'correctionId',
        status: 'status',
        kind: 'kind',
        credits: 'credits',
        reference: 'reference',
        'proposed by': 'proposedBy',
        'approved by': 'approvedBy',
      });
      print(command, { corrections: found }, found.length === 0 ? 'There are none.' : text);
    });

  corrections
    .command('approve <id>')
    .description('show a correction; with --yes, sign the proposal as the second operator, and book it')
    .option(...KEY_OPTION)
    .option('--yes', 'approve; without this, only show the correction')
    .addHelpText('after', example('corrections approve 4f1c2e9d-… --key ~/.keys/grace-private.pem --yes'))
    .action(async (id: string, { key, yes }: { key?: string; yes?: true }, command: Command) => {
      const answer = await withSession(async (session) => {
        const [correction] = await session.queries.execute(new FindCorrections(id));
        if (!correction) throw new OpsError(`There is no correction ${id}: ops corrections list shows them.`);
        if (!yes) return { outcome: 'not_approved' as const, correction };
        const { operator, sign } = signerOf(session, key);
        const { correctionId, proposedBy, entries } = correction;
        const signatures = textsToSign(correctionId, proposedBy, entries).map(sign);
        return record(session, { type: 'CorrectionApproved', data: { correctionId, operator, signatures } });
      }, HARMLESS_TO_REPEAT);
      const text = describeCorrection(answer.correction);
      if (answer.outcome === 'not_approved') return print(command, answer, text);
      const refused = answer.refusals.map((one) => `Not booked: ${one}.`);
      print(command, answer, [text, ...refused], refused.length > 0);
    });

  corrections
    .command('reject <id>')
    .description(
      'end a proposal, or an approved correction that its books refused; needs no key, and is recorded with your name',
    )
    .requiredOption('--reason <text>', 'why', someText)
    .addHelpText('after', example('corrections reject 4f1c2e9d-… --reason "wrong workspace"'))
    .action(async (correctionId: string, { reason }: { reason: string }, command: Command) => {
      const { correction } = await withSession(
        (session) => record(session, { type: 'CorrectionRejected', data: { correctionId, reason } }),
        HARMLESS_TO_REPEAT,
      );
      print(command, correction, describeCorrection(correction));
    });

  corrections
    .command('keygen')
    .description('make the key of an operator: a private key for them only, and their part of OPERATORS')
    .requiredOption('--name <name>', 'the operator, such as ada', someText)
    .requiredOption('--out <dir>', 'a folder, made if it is missing')
    .addHelpText('after', example('corrections keygen --name ada --out ~/.keys'))
    .action(async ({ name, out }: { name: string; out: string }, command: Command) => {
      const { privateKey } = generateKeyPairSync('ed25519');
      const operator = `${name}:${publicKeyOf(privateKey)}`;
      try {
        parseOperators(operator);
      } catch {
        throw new OpsError(`${name} is no name of an operator: use a–z, 0–9, dots and dashes, such as ada.`);
      }
      const path = join(out, `${name}-private.pem`);
      const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      await writeNewFiles([{ path, text, isPublic: false }]);
      print(command, { privateKey: path, operator }, `Wrote ${path}\nFor OPERATORS: ${operator}`);
    });
};

const record = async (session: Session, event: CorrectionEvent) => {
  const result = await session.commands.execute(new RecordCorrection(event, session.by()));
  if (result.outcome === 'refused') throw new OpsError(`${result.refusal}. Nothing changed.`);
  return result;
};

/** The operator whose key it is. @throws OpsError unless OPERATORS names the key, which only its owner can read */
const signerOf = ({ config }: Session, file = config.OPERATOR_KEY_FILE) => {
  if (file === undefined)
    throw new OpsError('This needs an operator’s signature: set OPERATOR_KEY_FILE, or add --key <file>.');
  const key = readPrivateKey(file, 'ops corrections keygen');
  const publicKey = publicKeyOf(key);
  const own = config.OPERATORS.find((one) => one.publicKey === publicKey);
  if (own?.state !== 'active')
    throw new OpsError(
      `OPERATORS names the key in ${file} ${own ? 'as retired' : 'nowhere'}. Nothing changed.`,
    );
  return { operator: own.name, sign: (text: string) => signText(text, key) };
};

/** A private key that only its owner can read. @param maker the command that makes such keys @throws OpsError */
export const readPrivateKey = (path: string, maker: string): KeyObject => {
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
  if (!key) throw new OpsError(`${path} has no Ed25519 private key: ${maker} makes one.`);
  return key;
};

type Content = Pick<CorrectionData<'CorrectionProposed'>, 'kind' | 'reason' | 'reference' | 'entries'>;

/**
 * Signs a proposal and records it.
 * @param scope the workspace, or what else keeps equal references apart
 * @param key file of the private key; default: OPERATOR_KEY_FILE
 */
export const propose = async (session: Session, scope: string, content: Content, key?: string) => {
  const { operator, sign } = signerOf(session, key);
  const correctionId = uuid5('correction', content.kind, scope, content.reference);
  const expiresAt = instant((await session.time.now()) + OPEN_FOR_MS);
  const signatures = textsToSign(correctionId, operator, content.entries).map(sign);
  const data = { correctionId, ...content, expiresAt, operator, signatures };
  const { outcome, correction } = await record(session, { type: 'CorrectionProposed', data });
  return { outcome: outcome === 'recorded' ? 'proposed' : 'already_proposed', correction } as const;
};

export type Proposal = Awaited<ReturnType<typeof propose>>;

export const printProposal = (command: Command, proposal: Proposal): void => {
  const { correction } = proposal;
  const next = `\nNothing is booked yet. Another operator approves it: ${approvalOf(correction)}`;
  print(command, proposal, describeCorrection(correction) + (correction.status === 'proposed' ? next : ''));
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

/** Everything that an approver must see, and what finance then has to pay back. */
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
    tableOf(entries, {
      workspace: 'workspaceId',
      credits: 'amount',
      'US dollars': ({ value }) => value && dollars(-value.cents),
      grant: 'grantId',
      expires: 'expiresAt',
      reverses: 'reversesEventId',
      reference: 'reference',
      booked: ({ booked }) => (booked ? 'yes' : 'no'),
      reason: 'reason',
    }),
    ...entries.flatMap(({ value }) =>
      value?.as === 'refunds' ? [`US dollars to pay back for ${value.of}: ${dollars(value.cents)}`] : [],
    ),
  ].join('\n');
};

const dollars = (cents: number): string => (cents / 100).toFixed(2);

/** By the names of the commands. */
export const commands = { corrections: addCorrectionsCommands };
