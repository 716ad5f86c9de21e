import type { PlaneName, Planes } from '#numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

export const PLANES = [
  'physical',
  'mental',
  'emotional',
  'intuitive',
] as const satisfies readonly PlaneName[];

/** The planes with the most letters, in the figure's order; at least one. */
export const strongestPlanes = (planes: Planes): readonly [PlaneName, ...PlaneName[]] => {
  const most = Math.max(...PLANES.map((plane) => planes[plane].count));
  const [first, ...others] = PLANES.filter((plane) => planes[plane].count === most);
  return [first ?? 'physical', ...others];
};

/** The number of letters on each of the four planes, one bar each. */
export const planeBars = ({ result, plain }: Composer): Figure => {
  const bars = PLANES.map((plane) => ({
    plane,
    label: plain(`frames/terms planes.${plane}`),
    count: result.planes[plane].count,
  }));
  const counts = Object.fromEntries(bars.map(({ plane, count }) => [plane, String(count)]));
  return {
    type: 'figure',
    id: 'grid.planes.figure',
    kind: 'planeBars',
    data: { bars },
    caption: plain('frames/grid planesCaption'),
    alt: plain('frames/grid planesAlt', counts),
    fallback: [
      table(
        'grid.planes.figure.table',
        ['left', 'right'],
        [plain('frames/terms position'), plain('frames/terms letters')],
        bars.map(({ label, count }) => [label, String(count)]),
      ),
    ],
  };
};
