import { instant } from '@app/event-sourcing/core/clock.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import type { CorrectionDayEvent, CorrectionRefusal } from '../../contracts/corrections.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { isSame, type CorrectionDay } from '../../domain/correction-day/correction-day.decider.js';
import {
  attemptsOf,
  creditsOf,
  statusAt,
  type Attempt,
  type CorrectionState,
} from '../../domain/correction/correction.state.js';
import type { Config } from '../../settings.js';
import { SIGNED_WITHIN_MS } from '../operators/signed-now.js';
import { CorrectionBooks } from './correction-books.js';

type Count = CorrectionDayEvent['data'];

/** How long a count holds without a signature. */
const UNSIGNED_MS = 30_000;
/** A command that takes longer records no signature. Its clock and the store's may differ by the rest. */
export const RECORDED_WITHIN_MS = 20_000;

/**
 * The credits that one operator may sign for on a day. Counts are not signed, so anybody with the store's login can
 * append one: each is looked up in its correction. Proposals that ended count with what is booked.
 */
@Injectable()
export class DailyLimit {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CONFIG) private readonly limits: Pick<Config, 'CORRECTION_DAILY_CREDITS'>,
  ) {}

  /** Counts a signature before it is recorded. @param now milliseconds @param signature its digest */
  async count(
    count: Count,
    signature: string,
    now: number,
    by: RequestContext,
  ): Promise<CorrectionRefusal | null> {
    const date = instant(now).slice(0, 10);
    const { state: day } = await this.executors.day.load(date);
    const known = { counts: day.length, credits: await this.used(day, count, now) };
    const outcome = await this.executors.day.execute(
      date,
      { count, dailyCredits: this.limits.CORRECTION_DAILY_CREDITS, known },
      { intent: signature, by, workspaceId: '', at: now },
    );
    return outcome.kind === 'rejected' ? { code: 'above_limit', ...outcome.details } : null;
  }

  /** The credits of the operator's other signatures, also of earlier attempts at the same correction. */
  private async used(day: CorrectionDay, count: Count, now: number): Promise<number> {
    const own = day.filter((one) => one.operator === count.operator);
    const firsts = own.filter((one, index) => own.findIndex((other) => isSame(other, one)) === index);
    const credits = await Promise.all(
      firsts.map(async (first) => {
        const { state } = await this.executors.correction.load(first.correctionId);
        const signed = attemptsOf(state).filter((attempt) => isSignedToday(attempt, first, now));
        const counted = await Promise.all(signed.map((attempt) => this.creditsOf(attempt, state!, now)));
        const attempts = own.filter((one) => isSame(one, first));
        // More counts than signatures: the newest may still wait for its own. One correction has one open proposal.
        const { credits: latest, recordedAt = now } = attempts.at(-1)!;
        const waits = attempts.length > signed.length && now - recordedAt < UNSIGNED_MS;
        const underWay = waits && !isSame(first, count) ? latest : 0;
        return sumOf(counted) + underWay;
      }),
    );
    return sumOf(credits);
  }

  /** All of an open proposal; of one that has ended, what is booked. */
  private async creditsOf(attempt: Attempt, state: CorrectionState, now: number): Promise<number> {
    const booked = await this.books.booked(attempt);
    const isOpen =
      attempt.proposal === state.proposal &&
      ['proposed', 'approved', 'booked'].includes(statusAt(state, now, booked));
    const { entries } = attempt.proposed;
    return creditsOf({ entries: isOpen ? entries : booked.map((position) => entries[position]!) });
  }
}

const isSignedToday = ({ proposed, approved }: Attempt, { act, operator }: Count, now: number): boolean => {
  const signed = act === 'proposed' ? proposed : approved;
  const dayStart = Date.parse(`${instant(now).slice(0, 10)}T00:00:00.000Z`);
  return signed?.signedBy.operator === operator && Date.parse(signed.at) >= dayStart - SIGNED_WITHIN_MS;
};

const sumOf = (credits: readonly number[]): number => credits.reduce((sum, one) => sum + one, 0);
