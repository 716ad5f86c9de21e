import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { paragraph, section } from '../../nodes.js';
import { gridHead, lessonsIntro, passions } from '../grid.js';

/** The letters of a child under seven, for the parents: without planes and minor numbers, which speak of habits. */
export const childGrid = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  return section(
    'grid',
    'grid',
    plain('frames/grid title'),
    [
      ...gridHead(composer),
      passions(composer, (digit) => `under7/grid passion.${digit}`),
      section(
        'grid.lessons',
        'subsection',
        plain('frames/grid lessonsTitle'),
        [
          lessonsIntro(composer),
          ...result.grid.lessons.map((digit) =>
            paragraph(`grid.lessons.${digit}`, say(`under7/grid lesson.${digit}`)),
          ),
        ],
        ['grid.lessons'],
      ),
    ],
    ['grid.counts'],
  );
};
