import { instant } from '@app/event-sourcing/core/clock.js';
import type { Correction } from '../../contracts/corrections.js';
import type { CorrectionExecutors } from '../../correction.executors.js';
import type { CorrectionState } from '../../domain/correction/correction.state.js';
import type { CorrectionBooks } from './correction-books.js';
import { correctionView } from './correction-view.js';

const DAY_MS = 86_400_000;

/**
 * Corrections that operators signed in the last days (UTC). The streams of the days name them: no scan of the log, and no
 * view that could be behind.
 * @param now milliseconds
 * @param isWanted leaves out the others, without reading their books
 */
export const signedCorrections = async (
  executors: CorrectionExecutors,
  books: CorrectionBooks,
  days: number,
  now: number,
  isWanted: (proposed: CorrectionState['proposed']) => boolean = () => true,
): Promise<readonly Correction[]> => {
  const ids = new Set<string>();
  for (let back = 0; back < days; back += 1) {
    const { state } = await executors.day.load(instant(now - back * DAY_MS).slice(0, 10));
    for (const { correctionId } of state) ids.add(correctionId);
  }
  const corrections: Correction[] = [];
  for (const id of ids) {
    const { state } = await executors.correction.load(id);
    if (state && isWanted(state.proposed))
      corrections.push(correctionView(state, await books.booked(state), now));
  }
  return corrections;
};
