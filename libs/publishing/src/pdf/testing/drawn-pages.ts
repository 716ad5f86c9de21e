import type { LaidOutPage, Run, Shape } from './laid-out.js';
import { pageFaults } from './page-faults.js';

export const A4 = { width: 595.28, height: 841.89 };
export const LEFT = 119;
export const RIGHT = 476;

/** A line of text, as a finished PDF has it. @param baseline points from the top */
export const run = (text: string, baseline: number, over: Partial<Run> = {}): Run => {
  const size = over.size ?? 11;
  return {
    text,
    left: LEFT,
    right: RIGHT,
    baseline,
    size,
    top: baseline - 0.72 * size,
    bottom: baseline + 0.22 * size,
    role: 'P',
    element: '1',
    within: ['P', 'Document'],
    ...over,
  };
};

/** A page with lines down to `until`. */
export const lines = (until = 750): Run[] =>
  Array.from({ length: Math.floor((until - 100) / 15) + 1 }, (_, index) =>
    run('Plain text', 100 + 15 * index),
  );

export const page = (runs: readonly Run[], shapes: readonly Shape[] = []): LaidOutPage => ({
  ...A4,
  runs,
  shapes,
});

export const COVER = page([run('A Reading', 104, { role: 'H1' }), run('Ada de La Tour', 200)]);
/** Two questions, then lines. */
export const LAST = page(
  lines().map((line, index) => (index < 2 ? { ...line, size: 12, element: `question ${index}` } : line)),
);

/** The faults of a booklet of a cover, this page and a last one. */
export const found = (
  inside: LaidOutPage,
  over: { cover?: LaidOutPage; last?: LaidOutPage } = {},
): string[] =>
  pageFaults([over.cover ?? COVER, inside, over.last ?? LAST], { paper: 'a4', locale: 'fr-FR' }).map(
    ({ page: number, fault }) => `${number}: ${fault}`,
  );

export const heading = (baseline: number) => run('A heading', baseline, { role: 'H3', size: 14, right: 200 });
