import type { Composer } from '../composer.js';
import type { NumberRef, Section } from '../document.js';
import { stageOfLife } from '../facts.js';
import { numberRef, paragraph, section, sentences, strong, text } from '../nodes.js';

/** The challenge of each time of a life, by the current period. */
const OF_STAGE = {
  first: { key: 'first', text: 'early' },
  second: { key: 'second', text: 'middle' },
  third: { key: 'fourth', text: 'late' },
} as const;

export const mainChallenge = ({ result }: Composer): NumberRef =>
  numberRef('cycles.challenges.main', String(result.cycles.challenges.main));

/** The challenge of a whole life, and the one of the reader's time of life. */
export const challenges = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { challenges: all } = result.cycles;
  const { key, text: part } = OF_STAGE[stageOfLife(result)];
  const head = strong([text(`${plain(`frames/cycles minorTitles.${key}`, { number: String(all[key]) })}.`)]);
  return section(
    'cycles.challenges',
    'subsection',
    plain('frames/cycles challengesTitle'),
    [
      paragraph(
        'cycles.challenges.intro',
        say('frames/cycles challengesIntro', { number: mainChallenge(composer) }),
      ),
      paragraph('cycles.challenges.main', say(`challenges ${all.main}.main`)),
      paragraph(`cycles.challenges.${key}`, sentences([[head], say(`challenges ${all[key]}.${part}`)])),
    ],
    ['cycles.challenges'],
  );
};
