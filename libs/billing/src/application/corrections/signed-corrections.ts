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
  const dates = Array.from({ length: days }, (_, back) => instant(now - back * DAY_MS).slice(0, 10));
  const signed = await Promise.all(dates.map((date) => executors.day.load(date)));
  const ids = [...new Set(signed.flatMap(({ state }) => state.map(({ correctionId }) => correctionId)))];
  const found = await Promise.all(ids.map((id) => executors.correction.load(id)));
  const wanted = found.flatMap(({ state }) => (state && isWanted(state.proposed) ? [state] : []));
  return Promise.all(wanted.map(async (state) => correctionView(state, await books.booked(state), now)));
};
