import { instant } from '@app/event-sourcing/core/clock.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import type { CorrectionDayEvent, CorrectionRefusal } from '../../contracts/corrections.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { isSame, type CorrectionDay } from '../../domain/correction-day/correction-day.decider.js';
import { creditsOf, statusAt } from '../../domain/correction/correction.state.js';
import type { Config } from '../../settings.js';
import { SIGNED_WITHIN_MS } from '../operators/signed-now.js';
import { CorrectionBooks } from './correction-books.js';

type Count = CorrectionDayEvent['data'];

/** How long a count holds without a signature: between the two, a command needs less. */
const UNSIGNED_MS = 30_000;

/**
 * The credits that one operator may sign for on a day. Counts are not signed, so anybody with the store's login can
 * append one: each is looked up in its correction. Corrections that ended count with what is booked.
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

  /** The credits of the operator's other signatures. */
  private async used(day: CorrectionDay, count: Count, now: number): Promise<number> {
    const others = day
      .filter((one) => one.operator === count.operator && !isSame(one, count))
      // The newest attempt at each signature.
      .filter((one, index, own) => !own.slice(index + 1).some((later) => isSame(later, one)));
    const credits = await Promise.all(others.map((one) => this.creditsOf(one, now)));
    return credits.reduce((sum, one) => sum + one, 0);
  }

  private async creditsOf(count: CorrectionDay[number], now: number): Promise<number> {
    const { correctionId, act, operator, credits, recordedAt = now } = count;
    const { state } = await this.executors.correction.load(correctionId);
    const signed = act === 'proposed' ? state?.proposed : state?.approved;
    if (!state || signed?.signedBy.operator !== operator) return now - recordedAt < UNSIGNED_MS ? credits : 0;
    const dayStart = Date.parse(`${instant(now).slice(0, 10)}T00:00:00.000Z`);
    if (Date.parse(signed.at) < dayStart - SIGNED_WITHIN_MS) return 0;
    const booked = await this.books.booked(state);
    if (['proposed', 'approved', 'booked'].includes(statusAt(state, now, booked)))
      return creditsOf(state.proposed);
    const entries = booked.map((position) => state.proposed.entries[position]!);
    return entries.length === 0 ? 0 : creditsOf({ entries });
  }
}
