import type { Composer } from '../composer.js';
import type { Section } from '../document.js';
import { list, paragraph, section } from '../nodes.js';
import { birthOf, cycleSums, dateParts, yearSums } from './method/dates.js';
import { chains, gridSums, letterTable, weightSums, words } from './method/names.js';
import { mastersAndDebts, otherMethods } from './method/others.js';
import { steps } from './method/spelling.js';

/** The annex: with this page alone a reader can redo every number of the reading by hand. */
export const method = (composer: Composer): Section => {
  const { result, say, plain, all, date } = composer;
  const versions = {
    date: date(result.asOf),
    method: result.method.id,
    engine: result.engineVersion,
    content: result.contentVersion,
  };
  // To a single digit, as the sentence says: a year of 22, such as 1984, would otherwise stop there.
  const example = steps(birthOf(composer).year, false);
  return section(
    'method',
    'method',
    plain('frames/method title'),
    [
      paragraph('method.intro', say('frames/method intro', { method: result.method.id })),
      paragraph('method.reduction', say('frames/method reduction', { steps: example })),
      list('method.conventions', all('frames/method conventions')),
      letterTable(composer),
      words(composer),
      dateParts(composer),
      chains(composer),
      mastersAndDebts(composer),
      gridSums(composer),
      cycleSums(composer),
      ...yearSums(composer),
      weightSums(composer),
      otherMethods(composer),
      paragraph('method.as-of', say('frames/method asOf', versions), 'note'),
    ],
    ['method'],
  );
};
