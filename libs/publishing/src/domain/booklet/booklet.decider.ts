import { accept, ignore, type Decision } from '@app/event-sourcing/core/decision.js';
import type { Decider } from '@app/event-sourcing/core/decider.js';
import type { BookletEvent } from '../../contracts/events.js';
import type { Paper } from '../../contracts/paper.js';

export interface Booklet {
  readonly paper: Paper;
}

export interface ChoosePaperCommand extends Booklet {
  readonly type: 'ChoosePaper';
}

const decide = ({ paper }: ChoosePaperCommand, state: Booklet): Decision<BookletEvent, never> =>
  paper === state.paper ? ignore('Unchanged') : accept({ type: 'PaperChosen', data: { paper } });

export const bookletDecider: Decider<ChoosePaperCommand, BookletEvent, Booklet, never> = {
  initialState: { paper: 'by-locale' },
  decide,
  evolve: (_, { data: { paper } }) => ({ paper }),
};
