import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import {
  RecordCorrection,
  type Correction,
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
import { attemptsOf, creditsOf, type CorrectionState } from '../../domain/correction/correction.state.js';
import { keyOf } from '../../domain/operators/operators.state.js';
import { statementDigest } from '../../domain/signed-text.js';
import type { Config } from '../../settings.js';
import { isSignedWith } from '../../signatures/signatures.js';
import { VerifiedRegister } from '../operators/operator-register.js';
import { isSignedNow } from '../operators/signed-now.js';
import { askedOf, byWorkspace, CorrectionBooks, NO_WORKSPACE } from './correction-books.js';
import { correctionView } from './correction-view.js';
import { DailyLimit, RECORDED_WITHIN_MS } from './daily-limit.js';

/** Decides first, then counts the credits of the day, then records: commands that run at once keep to the limit. */
@CommandHandler(RecordCorrection)
export class RecordCorrectionHandler implements ICommandHandler<RecordCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    private readonly dailyLimit: DailyLimit,
    private readonly register: VerifiedRegister,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly limits: Pick<Config, 'CORRECTION_MAX_CREDITS'>,
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
    const { state } = await this.executors.correction.load(correctionId);
    const booked = state ? await this.books.booked(state) : [];
    const command: CorrectionCommand = { event: statement, register, maxCredits, now, booked };
    const decision = correction.decide(command, state);
    if (decision.kind === 'reject') return refused(refusalOf(decision));
    if (decision.kind === 'ignore') return { outcome: 'already', correction: await this.view(state!, now) };
    const refusal = await this.refusalOfBooks(statement, state, now);
    if (refusal) return refused(refusal);
    const countedAt = performance.now();
    const limited = await this.count(statement, state, now, by);
    if (limited) return refused(limited);
    // Its count may hold no longer, so others may have used the credits.
    if (performance.now() - countedAt > RECORDED_WITHIN_MS) return refused({ code: 'too_slow' });
    const outcome = await this.executors.correction.execute(correctionId, command, {
      intent: statementDigest(statement),
      by,
      workspaceId: NO_WORKSPACE,
      at: now,
    });
    if (outcome.kind === 'rejected') return refused(refusalOf(outcome));
    return {
      outcome: outcome.kind === 'accepted' ? 'recorded' : 'already',
      correction: await this.view(outcome.state!, now),
    };
  }

  private async view(state: CorrectionState, now: number): Promise<Correction> {
    return correctionView(state, await this.books.booked(state), now, await this.books.values(state, now));
  }

  /** What the books say of a proposal. */
  private async refusalOfBooks(
    statement: SignedCorrectionEvent,
    state: CorrectionState | null,
    now: number,
  ): Promise<CorrectionRefusal | null> {
    if (statement.type !== 'CorrectionProposed') return null;
    const proposed = statement.data;
    const proposal = statementDigest(statement);
    // Entries for later days depend on those before them, and are checked when they are booked.
    const positions = proposed.entries.flatMap(({ notBefore }, position) => (notBefore ? [] : [position]));
    const attempt = { proposed, proposal, approved: null, earlier: attemptsOf(state) };
    for (const [workspaceId, own] of byWorkspace(proposed, [...proposed.entries.keys()])) {
      const refusal = await this.books.repeated(workspaceId, askedOf(attempt, workspaceId, own));
      if (refusal) return refusal;
    }
    for (const [workspaceId, own] of byWorkspace(proposed, positions)) {
      const refusal = await this.books.refusal(workspaceId, askedOf(attempt, workspaceId, own), now);
      if (refusal) return refusal;
    }
    return null;
  }

  /** Counts the credits of the day. Rejecting and withdrawing use none. */
  private async count(
    statement: SignedCorrectionEvent,
    state: CorrectionState | null,
    now: number,
    by: RequestContext,
  ): Promise<CorrectionRefusal | null> {
    const isProposal = statement.type === 'CorrectionProposed';
    if (!isProposal && statement.type !== 'CorrectionApproved') return null;
    const { correctionId, signedBy } = statement.data;
    return this.dailyLimit.count(
      {
        correctionId,
        operator: signedBy.operator,
        act: isProposal ? 'proposed' : 'approved',
        credits: creditsOf(isProposal ? statement.data : state!.proposed),
      },
      statementDigest(statement),
      now,
      by,
    );
  }
}

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
    case 'TooLarge':
      return { code: 'too_large', ...rejection.details };
    case 'Stale':
      return { code: 'stale' };
    case 'BadExpiry':
      return { code: 'bad_expiry' };
    default:
      return { code: 'unknown' };
  }
};
