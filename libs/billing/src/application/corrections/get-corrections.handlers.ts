import type { Clock } from '@app/event-sourcing/core/clock.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { CLOCK } from '@app/platform/tokens.js';
import { GetCorrection, ListCorrections, type Correction } from '../../contracts/corrections.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../../correction.executors.js';
import { CorrectionBooks } from './correction-books.js';
import { correctionView } from './correction-view.js';
import { signedCorrections } from './signed-corrections.js';

@QueryHandler(GetCorrection)
export class GetCorrectionHandler implements IQueryHandler<GetCorrection> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ correctionId }: GetCorrection): Promise<Correction | null> {
    const { state } = await this.executors.correction.load(correctionId);
    if (!state) return null;
    const now = this.clock.now();
    return correctionView(state, await this.books.booked(state), now, await this.books.values(state, now));
  }
}

@QueryHandler(ListCorrections)
export class ListCorrectionsHandler implements IQueryHandler<ListCorrections> {
  constructor(
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    private readonly books: CorrectionBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ days }: ListCorrections): Promise<readonly Correction[]> {
    const found = await signedCorrections(this.executors, this.books, days, this.clock.now());
    return found.toSorted((a, b) => (a.proposed.at < b.proposed.at ? 1 : -1));
  }
}
