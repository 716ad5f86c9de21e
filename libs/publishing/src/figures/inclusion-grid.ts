import { DIGITS } from '#numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

/** The number of letters of each value in the name, as a grid of three by three. */
export const inclusionGrid = ({ result, plain, list }: Composer): Figure => {
  const { counts, lessons, hiddenPassion } = result.grid;
  const passion = list(hiddenPassion.map(String));
  return {
    type: 'figure',
    id: 'grid.figure',
    kind: 'inclusionGrid',
    data: { counts, lessons, passion: hiddenPassion },
    caption: plain('frames/grid figureCaption'),
    alt:
      lessons.length === 0
        ? plain('frames/grid figureAltComplete', { passion })
        : plain('frames/grid figureAlt', { passion, lessons: list(lessons.map(String)) }),
    fallback: [
      table(
        'grid.figure.table',
        ['center', 'right'],
        [plain('frames/terms number'), plain('frames/terms letters')],
        DIGITS.map((digit) => [String(digit), String(counts[digit])]),
      ),
    ],
  };
};
