import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { CorruptEvent, decodeOrShow, isOpaque } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { streamId, streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK, CONFIG } from '@app/platform/tokens.js';
import {
  correctionDayEvents,
  correctionEvents,
  type CorrectionEventOf,
} from '../../contracts/corrections.js';
import { JudgeStatements, type JudgedStatement } from '../../contracts/judged-statements.js';
import { operatorsEvents } from '../../contracts/operators.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { attemptsOf } from '../../domain/correction/correction.state.js';
import type { Config } from '../../settings.js';
import { judgeOf, REGISTER, type Judge } from '../../signed-streams.js';
import { CorrectionBooks } from '../corrections/correction-books.js';

const DAY_MS = 86_400_000;

@QueryHandler(JudgeStatements)
export class JudgeStatementsHandler implements IQueryHandler<JudgeStatements> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATOR_ROOT_KEYS'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
  ) {}

  async execute({ streams, days }: JudgeStatements): Promise<readonly JudgedStatement[]> {
    const judge = judgeOf(this.store, this.config.OPERATOR_ROOT_KEYS);
    const known = days === 0 ? [] : await this.signedWithin(days);
    const judged = await Promise.all(
      [...new Set([...known, ...streams])].map((stream) => this.statementsOf(stream, judge)),
    );
    // This reads books.
    return Promise.all(
      judged.flat().map(async (one) => (streams.includes(one.stream) ? this.confirmedByBooks(one) : one)),
    );
  }

  /** Nobody signs that a correction is booked: its books prove it. */
  private async confirmedByBooks(judged: JudgedStatement): Promise<JudgedStatement> {
    const { stream, revision, type, worth } = judged;
    if (type !== 'CorrectionBooked' || worth !== 'counts') return judged;
    const { state } = await this.executors.correction.load(streamId(stream));
    for await (const stored of this.store.read(stream, { from: revision, limit: 1 })) {
      const { proposal, positions } = stored.data as CorrectionEventOf<'CorrectionBooked'>['data'];
      const attempt = attemptsOf(state).find((one) => one.proposal === proposal);
      const booked = attempt ? await this.books.booked(attempt) : [];
      const missing = positions.filter((position) => !booked.includes(position));
      if (missing.length > 0)
        return {
          ...judged,
          worth: 'does not count',
          reason: `no book has these entries: ${missing.join(', ')}`,
        };
    }
    return judged;
  }

  /** The streams of the days name the corrections: no scan of the log. */
  private async signedWithin(days: number): Promise<readonly string[]> {
    const now = this.clock.now();
    const dates = Array.from({ length: days }, (_, back) =>
      streamName(correctionDayEvents.category, instant(now - back * DAY_MS).slice(0, 10)),
    );
    const ids = await Promise.all(dates.map((date) => this.correctionsOf(date)));
    const corrections = ids.flat().map((id) => streamName(correctionEvents.category, id));
    return [streamName(operatorsEvents.category, REGISTER), ...dates, ...corrections];
  }

  private async correctionsOf(day: string): Promise<readonly string[]> {
    const ids = new Set<string>();
    for await (const stored of this.store.read(day)) {
      const count = decodeOrShow(correctionDayEvents, stored);
      if (!isOpaque(count)) ids.add(count.data.correctionId);
    }
    return [...ids];
  }

  private async statementsOf(stream: string, judge: Judge): Promise<readonly JudgedStatement[]> {
    const found: JudgedStatement[] = [];
    try {
      const admit = await judge(stream);
      if (!admit) return [];
      for await (const stored of this.store.read(stream)) {
        const judged = judgedBy(admit, stored);
        found.push(judged);
        // What follows from a statement that nobody here can read is not known.
        if (judged.worth === 'unknown') break;
      }
    } catch (error) {
      // The operators' own stream names it.
      if (!(error instanceof CorruptEvent)) throw error;
    }
    return found;
  }
}

const judgedBy = (admit: (stored: StoredEvent) => string | null, stored: StoredEvent): JudgedStatement => {
  const { stream, revision, type, quarantine } = stored;
  const place = { stream, revision, type, isQuarantined: quarantine !== undefined };
  try {
    const refusal = admit(stored);
    return { ...place, worth: refusal === null ? 'counts' : 'does not count', reason: refusal ?? '' };
  } catch (error) {
    if (!(error instanceof CorruptEvent)) throw error;
    return { ...place, worth: 'unknown', reason: error.reason };
  }
};
