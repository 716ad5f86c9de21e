import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK } from '@app/platform/tokens.js';
import { GetCorrection, ListCorrections, type Correction } from '../../contracts/corrections.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { CorrectionBooks } from './correction-books.js';
import { correctionView } from './correction-view.js';

const DAY_MS = 86_400_000;

@QueryHandler(GetCorrection)
export class GetCorrectionHandler implements IQueryHandler<GetCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ correctionId }: GetCorrection): Promise<Correction | null> {
    const { state } = await this.executors.correction.load(correctionId);
    return state && correctionView(state, await this.books.booked(state), this.clock.now());
  }
}

/** The streams of the days name the corrections: no scan of the log, and no view that could be behind. */
@QueryHandler(ListCorrections)
export class ListCorrectionsHandler implements IQueryHandler<ListCorrections> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ days }: ListCorrections): Promise<readonly Correction[]> {
    const now = this.clock.now();
    const dates = Array.from({ length: days }, (_, back) => instant(now - back * DAY_MS).slice(0, 10));
    const signed = await Promise.all(dates.map((date) => this.executors.day.load(date)));
    const ids = [...new Set(signed.flatMap(({ state }) => state.map(({ correctionId }) => correctionId)))];
    const found = await Promise.all(ids.map((id) => this.executors.correction.load(id)));
    const views = found.flatMap(({ state }) =>
      state ? [this.books.booked(state).then((booked) => correctionView(state, booked, now))] : [],
    );
    return (await Promise.all(views)).toSorted((a, b) => (a.proposed.at < b.proposed.at ? 1 : -1));
  }
}
