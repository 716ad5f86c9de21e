import { describe, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import type { BookletEvent } from '../../contracts/events.js';
import { bookletDecider } from './booklet.decider.js';

describe('the paper of a workspace', () => {
  const letter: BookletEvent = { type: 'PaperChosen', data: { paper: 'us-letter' } };

  it('is chosen, and chosen again', () => {
    given(bookletDecider, []).when({ type: 'ChoosePaper', paper: 'us-letter' }).then(letter);
    given(bookletDecider, [letter]).when({ type: 'ChoosePaper', paper: 'a4' }).thenTypes('PaperChosen');
  });

  it('is that of the locale until then', () => {
    given(bookletDecider, []).when({ type: 'ChoosePaper', paper: 'by-locale' }).thenIgnores('Unchanged');
    given(bookletDecider, [letter])
      .when({ type: 'ChoosePaper', paper: 'us-letter' })
      .thenIgnores('Unchanged');
  });
});
