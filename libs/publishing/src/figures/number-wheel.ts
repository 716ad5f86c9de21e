import { DIGITS } from '#numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

/** Nine sectors, one per root. Their length is the weight of the root in the reading, not the number itself. */
export const numberWheel = ({ result, plain, list, amount }: Composer): Figure => {
  const { weights, dominant, absent } = result.synthesis;
  const leading = list(dominant.map(String));
  return {
    type: 'figure',
    id: 'overview.wheel',
    kind: 'numberWheel',
    data: { weights, dominant },
    caption: plain('frames/overview wheelCaption'),
    alt:
      absent.length === 0
        ? plain('frames/overview wheelAltComplete', { dominant: leading })
        : plain('frames/overview wheelAlt', { dominant: leading, absent: list(absent.map(String)) }),
    fallback: [
      table(
        'overview.wheel.table',
        ['center', 'right'],
        [plain('frames/terms number'), plain('frames/terms weight')],
        DIGITS.map((digit) => [String(digit), amount(weights[digit])]),
      ),
    ],
  };
};
