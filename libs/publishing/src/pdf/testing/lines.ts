import type { LaidOutPage, Run } from './laid-out.js';

/** The runs of a line, from left to right. */
export type Line = readonly Run[];

/** The lines of a page, from the top. */
export const linesOf = (runs: readonly Run[]): Line[] => {
  const lines: Run[][] = [];
  for (const run of runs) {
    const line = lines.find(([first]) => Math.abs(first!.baseline - run.baseline) < 0.6);
    if (line) line.push(run);
    else lines.push([run]);
  }
  return lines.sort(([a], [b]) => a!.baseline - b!.baseline);
};

export const textOf = (line: Line): string => line.map(({ text }) => text).join('');

/** Content, without artifacts: their head and foot are the same on every page. */
export const contentOf = ({ runs }: LaidOutPage): readonly Run[] => runs.filter(({ role }) => role !== null);

/** Of a heading of any level. */
export const isHeading = ({ role }: Run): boolean => /^H\d$/.test(role ?? '');

/** The beginning of a text, as faults name it. */
export const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
