import { strongestPlanes } from '../../../figures/plane-bars.js';
import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { paragraph, section } from '../../nodes.js';
import { gridHead, lessonsIntro, passions, planesHead } from '../grid.js';

const lessons = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  return section(
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
  );
};

const planes = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const [strongest] = strongestPlanes(result.planes);
  return section(
    'grid.planes',
    'subsection',
    plain('frames/grid planesTitle'),
    [...planesHead(composer), paragraph('grid.planes.strongest', say(`under7/grid plane.${strongest}`))],
    ['planes'],
  );
};

const balance = ({ result, say, plain, number }: Composer): Section =>
  section(
    'grid.balance',
    'subsection',
    plain('frames/under7 grid.balanceTitle'),
    [
      paragraph('grid.balance.intro', say('frames/under7 grid.balanceIntro', { number: number('balance') })),
      paragraph('grid.balance.text', say(`under7/grid balance.${result.numbers.balance.value}`)),
    ],
    ['numbers.balance'],
  );

/** The letters of a child under seven, for the parents; of the minor numbers only Balance, as what may calm a child. */
export const childGrid = (composer: Composer): Section => {
  const { plain } = composer;
  return section(
    'grid',
    'grid',
    plain('frames/grid title'),
    [
      ...gridHead(composer),
      passions(composer, (digit) => `under7/grid passion.${digit}`),
      lessons(composer),
      planes(composer),
      balance(composer),
    ],
    ['grid.counts'],
  );
};
