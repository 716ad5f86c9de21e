import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { TRUSTED_CLOCK } from '@app/platform/tokens.js';
import {
  BookCorrection,
  type BookCorrectionResult,
  type BookRefusal,
  type CorrectionRefusal,
} from '../../contracts/corrections.js';
import type { OperatorRegister } from '../../contracts/operators.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { statusAt, type CorrectionState } from '../../domain/correction/correction.state.js';
import { VerifiedRegister } from '../operators/operator-register.js';
import { askedOf, byWorkspace, CorrectionBooks, NO_WORKSPACE } from './correction-books.js';
import { correctionView } from './correction-view.js';

/** Safe to repeat after a crash at any point: each book knows the entries that it has. */
@CommandHandler(BookCorrection)
export class BookCorrectionHandler implements ICommandHandler<BookCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    private readonly register: VerifiedRegister,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async execute({ correctionId, by }: BookCorrection): Promise<BookCorrectionResult> {
    const now = await this.clock.now();
    const [{ state }, register] = await Promise.all([
      this.executors.correction.load(correctionId),
      this.register.load(),
    ]);
    if (!state) return refused({ code: 'unknown' });
    const done = await this.books.booked(state);
    const status = statusAt(state, now, done);
    if (status !== 'approved' && status !== 'booked') return refused({ code: 'wrong_status', status });
    const { open, later } = openPositions(state, done, now);
    const refusals: BookRefusal[] = [];
    const isApproved = async () => (await this.endOf(state)) === null;
    for (const [workspaceId, positions] of byWorkspace(state.proposed, open)) {
      const asked = askedOf(state, workspaceId, positions);
      const refusal = await this.books.book(workspaceId, asked, isApproved, by);
      if (refusal === 'ended') break;
      if (refusal) refusals.push(refusal);
      else done.push(...positions);
    }
    const isNoted = done.every((position) => state.noted.includes(position));
    if (!isNoted) await this.record(state, done, { now, by, register });
    const end = await this.endOf(state);
    if (end) return refused(end);
    const outcome = refusals.length + later.length === 0 ? 'booked' : 'incomplete';
    const correction = correctionView(state, done, now, await this.books.values(state, now));
    return { outcome, correction, refusals, later };
  }

  /** What has ended an approved proposal since it was loaded; `null`: nothing. */
  private async endOf({ proposed, proposal }: CorrectionState): Promise<CorrectionRefusal | null> {
    const { state: latest } = await this.executors.correction.load(proposed.correctionId);
    if (latest?.proposal !== proposal) return { code: 'stale' };
    return latest.status === 'approved' ? null : { code: 'wrong_status', status: latest.status };
  }

  private async record(
    state: CorrectionState,
    positions: readonly number[],
    { now, by, register }: Pick<BookCorrection, 'by'> & { now: number; register: OperatorRegister },
  ): Promise<void> {
    const { correctionId } = state.proposed;
    const data = { correctionId, proposal: state.proposal, positions: [...positions] };
    await this.executors.correction.execute(
      correctionId,
      { event: { type: 'CorrectionBooked', data }, register, maxCredits: 0, now, booked: positions },
      { intent: `booked:${positions.join()}`, by, workspaceId: NO_WORKSPACE, at: now },
    );
  }
}

const openPositions = ({ proposed }: CorrectionState, booked: readonly number[], now: number) => {
  const open: number[] = [];
  const later: number[] = [];
  for (const [position, { notBefore }] of proposed.entries.entries()) {
    if (booked.includes(position)) continue;
    (notBefore !== null && Date.parse(notBefore) > now ? later : open).push(position);
  }
  return { open, later };
};

const refused = (refusal: CorrectionRefusal): BookCorrectionResult => ({ outcome: 'refused', refusal });
