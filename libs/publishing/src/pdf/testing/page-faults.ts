import type { Box, LaidOutPage, Run } from './laid-out.js';

/** What cannot be read on a page, or runs out of it. Lengths are in points. */

/** Rounding, and side bearings that reach beyond the measure. */
const TOLERANCE = 1.5;

/** The runs of a line, from left to right. */
type Line = readonly Run[];

/** The lines of a page, from the top. */
const linesOf = (runs: readonly Run[]): Line[] => {
  const lines: Run[][] = [];
  for (const run of runs) {
    const line = lines.find(([first]) => Math.abs(first!.baseline - run.baseline) < 0.6);
    if (line) line.push(run);
    else lines.push([run]);
  }
  return lines.sort(([a], [b]) => a!.baseline - b!.baseline);
};

const textOf = (line: Line): string => line.map(({ text }) => text).join('');

/** The beginning of a text, as faults name it. */
const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

const overlapping = (a: Run, b: Run): boolean =>
  a.left < b.right - TOLERANCE &&
  b.left < a.right - TOLERANCE &&
  a.top < b.bottom - TOLERANCE &&
  b.top < a.bottom - TOLERANCE;

export const overlaps = ({ runs }: LaidOutPage): string[] =>
  runs.flatMap((run, index) =>
    runs
      .slice(index + 1)
      .filter((other) => overlapping(run, other))
      .map((other) => `“${short(other.text)}” is printed over “${short(run.text)}”`),
  );

/** Stops and hyphens hang in the margin, so that the edge looks straight. */
const HANGS = /[.,:;\u2010\u00AD’”»–—…-]\s*$/u;

/** Lines that leave the measure at a side, or the paper below: text, running heads and page numbers. */
export const overfull = (
  { runs, height }: LaidOutPage,
  measure: Pick<Box, 'left' | 'right'>,
): readonly string[] =>
  linesOf(runs.filter(({ text }) => text.trim() !== ''))
    .filter((line) =>
      line.some(
        ({ left, right, bottom, size, text }) =>
          right > measure.right + (HANGS.test(text) ? 0.5 * size : TOLERANCE) ||
          left < measure.left - TOLERANCE ||
          bottom > height,
      ),
    )
    .map((line) => `“${short(textOf(line))}” reaches into the margin`);

const mostFrequent = (values: readonly number[]): number => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? NaN;
};

/** As wide as most lines of the text. */
const measureOf = (pages: readonly LaidOutPage[]): Pick<Box, 'left' | 'right'> => {
  const lines = pages.flatMap(({ runs }) => linesOf(runs.filter(({ role }) => role === 'P')));
  const tenths = (value: number): number => Math.round(value * 10) / 10;
  return {
    left: mostFrequent(lines.map((line) => tenths(Math.min(...line.map(({ left }) => left))))),
    right: mostFrequent(lines.map((line) => tenths(Math.max(...line.map(({ right }) => right))))),
  };
};

/** What is printed over another text or into the margin of a booklet; empty when nothing is. */
export const pageFaults = (pages: readonly LaidOutPage[]): string[] => {
  const [cover, ...others] = pages;
  const left = cover?.runs.find(({ role }) => role !== null)?.left ?? 0;
  const measure = measureOf(others);
  return pages.flatMap((page, index) =>
    [...overfull(page, index === 0 ? { left, right: page.width - left } : measure), ...overlaps(page)].map(
      (fault) => `page ${index + 1}: ${fault}`,
    ),
  );
};
