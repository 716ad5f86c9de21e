import { instant } from '@app/event-sourcing/core/clock.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import {
  RecordCorrection,
  type CorrectionDayEvent,
  type CorrectionRefusal,
  type RecordCorrectionResult,
  type SignedCorrectionEvent,
} from '../../contracts/corrections.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import {
  correction,
  type CorrectionCommand,
  type CorrectionRejection,
} from '../../domain/correction/correction.decider.js';
import { creditsOf, type CorrectionState } from '../../domain/correction/correction.state.js';
import { keyOf } from '../../domain/operators/operators.state.js';
import { statementDigest } from '../../domain/signed-text.js';
import type { Config } from '../../settings.js';
import { isSignedWith } from '../../signatures/signatures.js';
import { VerifiedRegister } from '../operators/operator-register.js';
import { isSignedNow } from '../operators/signed-now.js';
import { askedOf, byWorkspace, CorrectionBooks } from './correction-books.js';
import { correctionView } from './correction-view.js';

type Limits = Pick<Config, 'CORRECTION_MAX_CREDITS' | 'CORRECTION_DAILY_CREDITS'>;

/** Decides first, then counts the credits of the day, then records: a crash in between counts too much, never too little. */
@CommandHandler(RecordCorrection)
export class RecordCorrectionHandler implements ICommandHandler<RecordCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    private readonly register: VerifiedRegister,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly limits: Limits,
  ) {}

  async execute({ statement, by }: RecordCorrection): Promise<RecordCorrectionResult> {
    const now = await this.clock.now();
    const { correctionId, signedBy, at } = statement.data;
    const register = await this.register.load();
    const key = keyOf(register, signedBy.keySha256);
    if (!key) return refused({ code: 'not_trusted', operator: signedBy.operator });
    if (!isSignedWith(statement, key.publicKey)) return refused({ code: 'bad_signature' });
    if (!isSignedNow(at, now)) return refused({ code: 'stale' });
    const maxCredits = this.limits.CORRECTION_MAX_CREDITS;
    const command: CorrectionCommand = { event: statement, register, maxCredits, now };
    const { state } = await this.executors.correction.load(correctionId);
    const decision = correction.decide(command, state);
    if (decision.kind === 'reject') return refused(refusalOf(decision));
    if (decision.kind === 'ignore') return { outcome: 'already', correction: correctionView(state!, now) };
    const refusal = await this.prepare(statement, state, now, by);
    if (refusal) return refused(refusal);
    const outcome = await this.executors.correction.execute(correctionId, command, {
      intent: statementDigest(statement),
      by,
      workspaceId: workspaceOf(statement, state),
      at: now,
    });
    if (outcome.kind === 'rejected') return refused(refusalOf(outcome));
    return {
      outcome: outcome.kind === 'accepted' ? 'recorded' : 'already',
      correction: correctionView(outcome.state!, now),
    };
  }

  /** What the books and the day say. Rejecting and withdrawing need neither. */
  private async prepare(
    statement: SignedCorrectionEvent,
    state: CorrectionState | null,
    now: number,
    by: RequestContext,
  ): Promise<CorrectionRefusal | null> {
    if (statement.type === 'CorrectionProposed') {
      const proposed = statement.data;
      const proposal = statementDigest(statement);
      // Entries for later days depend on those before them, and are checked when they are booked.
      const positions = proposed.entries.flatMap(({ notBefore }, position) => (notBefore ? [] : [position]));
      for (const [workspaceId, own] of byWorkspace(proposed, positions)) {
        const asked = askedOf({ proposed, proposal, approved: null }, workspaceId, own);
        const refusal = await this.books.refusal(workspaceId, asked, now);
        if (refusal) return refusal;
      }
      return this.count(proposed, 'proposed', creditsOf(proposed), now, by);
    }
    return statement.type === 'CorrectionApproved'
      ? this.count(statement.data, 'approved', creditsOf(state!.proposed), now, by)
      : null;
  }

  private async count(
    { correctionId, signedBy }: SignedCorrectionEvent['data'],
    act: CorrectionDayEvent['data']['act'],
    credits: number,
    now: number,
    by: RequestContext,
  ): Promise<CorrectionRefusal | null> {
    const { operator } = signedBy;
    const count = { correctionId, operator, act, credits };
    const dailyCredits = this.limits.CORRECTION_DAILY_CREDITS;
    const outcome = await this.executors.day.execute(
      instant(now).slice(0, 10),
      { count, dailyCredits },
      { intent: `${act}:${correctionId}:${operator}:${credits}`, by, workspaceId: '', at: now },
    );
    return outcome.kind === 'rejected' ? { code: 'above_limit', ...outcome.details } : null;
  }
}

const workspaceOf = (statement: SignedCorrectionEvent, state: CorrectionState | null): string =>
  (statement.type === 'CorrectionProposed' ? statement.data : state!.proposed).entries[0]!.workspaceId;

const refused = (refusal: CorrectionRefusal): RecordCorrectionResult => ({ outcome: 'refused', refusal });

export const refusalOf = (rejection: CorrectionRejection): CorrectionRefusal => {
  switch (rejection.code) {
    case 'AboveLimit':
      return { code: 'above_limit', used: 0, ...rejection.details };
    case 'NotTrusted':
      return { code: 'not_trusted', ...rejection.details };
    case 'SamePerson':
      return { code: 'same_person', ...rejection.details };
    case 'NotProposer':
      return { code: 'not_proposer', ...rejection.details };
    case 'ReferenceInUse':
      return { code: 'reference_in_use', ...rejection.details };
    case 'WrongStatus':
      return { code: 'wrong_status', ...rejection.details };
    case 'Stale':
      return { code: 'stale' };
    case 'BadExpiry':
      return { code: 'bad_expiry' };
    default:
      return { code: 'unknown' };
  }
};
