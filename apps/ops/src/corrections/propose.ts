import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { instant } from '@app/event-sourcing/core/clock.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import {
  RecordCorrection,
  type Correction,
  type CorrectionEntry,
  type CorrectionEventOf,
  type CorrectionKind,
} from '@app/billing/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import type { Session } from '../session.js';
import { wholeNumber } from '../commands/options.js';
import { approvalOf, describeCorrection, describeRefusal } from './describe.js';
import { KEY_OPTION, signerOf } from './operator-key.js';

const DAY_MS = 86_400_000;

/** Options of every command that proposes a correction. */
export interface ProposalOptions {
  readonly key?: string;
  readonly days: number;
}

export const addProposalOptions = (command: Command): Command =>
  command
    .option(...KEY_OPTION)
    .option('--days <number>', 'days in which another operator may approve it, 31 at most', wholeNumber, 7);

export interface Proposal {
  readonly outcome: 'proposed' | 'already_proposed';
  readonly correction: Correction;
}

/** A correction is known by its kind and reference. @param scope the workspace, or what else keeps references apart */
export const correctionIdOf = (kind: CorrectionKind, scope: string, reference: string): string =>
  uuid5('correction', kind, scope, reference);

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
  options: ProposalOptions,
): Promise<Proposal> => {
  const { scope, reason, reference, entries } = content;
  const signer = await signerOf(session, options.key);
  const statement = await signer.sign<CorrectionEventOf<'CorrectionProposed'>>({
    type: 'CorrectionProposed',
    data: {
      correctionId: correctionIdOf(kind, scope, reference),
      kind,
      reason,
      reference,
      entries: [...entries],
      expiresAt: instant((await session.time.now()) + options.days * DAY_MS),
    },
  });
  const result = await session.commands.execute(new RecordCorrection(statement, session.by()));
  if (result.outcome === 'refused')
    throw new OpsError(`${describeRefusal(result.refusal)}. Nothing was proposed.`);
  const { outcome, correction } = result;
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

/** What a repeated command needs to name the same correction. */
export const newReference = (): string => `ops-${randomUUID()}`;

/** An entry that only changes a balance. */
export const entryOf = (
  entry: Pick<CorrectionEntry, 'workspaceId' | 'amount' | 'reason' | 'reference'> & Partial<CorrectionEntry>,
): CorrectionEntry => ({
  reversesEventId: null,
  grantId: null,
  expiresAt: null,
  notBefore: null,
  ...entry,
});
