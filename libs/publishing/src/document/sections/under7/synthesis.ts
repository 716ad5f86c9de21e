import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { leadingRoot } from '../../facts.js';
import { callout, paragraph, section } from '../../nodes.js';
import { rootRef } from '../numbers.js';

/** The leading number of a child under seven, for the parents. */
export const childSynthesis = ({ result, say, plain }: Composer): Section => {
  const root = leadingRoot(result);
  const key = `under7/synthesis ${root}`;
  return section(
    'synthesis',
    'synthesis',
    plain('frames/synthesis title'),
    [
      paragraph(
        'synthesis.leading',
        say('frames/under7 synthesis.leading', { number: rootRef(root) }),
        'lead',
      ),
      paragraph('synthesis.dominant', say(`${key}.dominant`)),
      paragraph('synthesis.parents', say(`${key}.parents`)),
      callout('synthesis.help', 'practice', plain('frames/under7 synthesis.helpTitle'), say(`${key}.help`)),
      callout(
        'synthesis.question',
        'question',
        plain('frames/synthesis questionTitle'),
        say(`${key}.question`),
      ),
      paragraph('synthesis.keep', say('frames/under7 synthesis.keep')),
    ],
    ['synthesis.dominant'],
  );
};
