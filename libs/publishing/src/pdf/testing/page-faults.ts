import type { Locale } from '../../document/document.js';
import { nameOnCover } from '../names.js';
import type { Box, LaidOutPage, Run } from './laid-out.js';

/** What a reader would call careless on a page. Lengths are in points. */

export interface PageFault {
  /** From 1. */
  readonly page: number;
  readonly fault: string;
}

/** What the booklet must be. */
export interface Expected {
  readonly paper: 'a4' | 'us-letter';
  readonly locale: Locale;
}

const SIZES = { a4: [595.28, 841.89], 'us-letter': [612, 792] } as const;

/** Of the height of the text: every page but the first and the last is filled at least this far. */
const LEAST_FILL = 0.5;
/** A gap higher than this counts as empty; a smaller one is the space between two things. */
const LARGEST_GAP = 60;
/** Of what follows a heading on its page, and of a table or list on each of two pages. */
const LEAST_LINES = 2;
/** A drawing or a card this high may stand alone below a heading. */
const LEAST_BLOCK = 40;
/** Rounding, and side bearings that reach beyond the measure. */
const TOLERANCE = 1.5;

/** The runs of a line, from left to right. */
type Line = readonly Run[];

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
const contentOf = ({ runs }: LaidOutPage): readonly Run[] => runs.filter(({ role }) => role !== null);

const isHeading = ({ role }: Run): boolean => /^H\d$/.test(role ?? '');

/** The beginning of a text, as faults name it. */
const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** Height that is covered by what stands in the area of the text, lines to write on and small gaps included. */
const covered = ({ runs, shapes }: LaidOutPage, area: Box): number => {
  const boxes = [...runs, ...shapes].filter(
    ({ top, bottom, left, right }) =>
      top > area.top - 2 && bottom < area.bottom + 2 && left > area.left - 3 && right < area.right + 9,
  );
  let sum = 0;
  let until = -Infinity;
  for (const { top, bottom } of boxes.sort((a, b) => a.top - b.top)) {
    if (bottom <= until) continue;
    sum += top - until > LARGEST_GAP ? bottom - top : bottom - until;
    until = bottom;
  }
  return sum;
};

const mostFrequent = (values: readonly number[]): number => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? NaN;
};

/** The area of the text: as wide as most lines of it, as high as the fullest pages. */
const measureOf = (pages: readonly LaidOutPage[]): Box => {
  const body = pages.slice(1);
  const lines = body.flatMap(({ runs }) => linesOf(runs.filter(({ role }) => role === 'P')));
  const tenths = (value: number): number => Math.round(value * 10) / 10;
  const content = body.flatMap(contentOf);
  return {
    left: mostFrequent(lines.map((line) => tenths(Math.min(...line.map(({ left }) => left))))),
    right: mostFrequent(lines.map((line) => tenths(Math.max(...line.map(({ right }) => right))))),
    top: Math.min(...content.map(({ top }) => top)),
    bottom: Math.max(...content.map(({ bottom }) => bottom)),
  };
};

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

/** A heading without enough of its text on the page. */
const lonely = (page: LaidOutPage, next: LaidOutPage | undefined): string[] => {
  const content = contentOf(page);
  const last = content.findLast(isHeading);
  if (!last) return [];
  const after = content.filter((run) => !isHeading(run) && run.baseline > last.baseline);
  const drawn = page.shapes.filter(({ role, top }) => role !== null && top > last.baseline);
  const bottom = Math.max(last.bottom, ...[...after, ...drawn].map((box) => box.bottom));
  const [following] = contentOf(next ?? page);
  const isWhole = after.length > 0 && (following === undefined || isHeading(following));
  return isWhole || linesOf(after).length >= LEAST_LINES || bottom - last.bottom >= LEAST_BLOCK
    ? []
    : [`the text of “${short(last.text)}” is overleaf`];
};

/** How many of these lines, from the first, are in a row of a table or an item of a list. */
const leading = (lines: readonly Line[], tag: string): number => {
  const end = lines.findIndex((line) => !line.every(({ within }) => within.includes(tag)));
  return end < 0 ? lines.length : end;
};

const split = (page: LaidOutPage, next: LaidOutPage | undefined): string[] =>
  [
    ['TD', 'a table leaves a single line'],
    ['LI', 'a list leaves a single line'],
  ].flatMap(([tag = '', fault = '']) => {
    // The head of a table is repeated as an artifact, so a page that begins with cells continues one.
    const below = next ? leading(linesOf(contentOf(next)), tag) : 0;
    const above = leading(linesOf(contentOf(page)).reverse(), tag);
    return below > 0 && above > 0 && Math.min(above, below) < LEAST_LINES ? [fault] : [];
  });

/** A soft hyphen at the end of a line, or one that the word has. */
const HYPHEN = /[\u00AD\u2010-]$/u;
/** Longer words may be broken. */
const LONGEST_WORD = 16;

const wordAt = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');

/** The words of the name on the cover, by the parts that stay together. */
const nameOn = (cover: LaidOutPage): string[][] => {
  const content = contentOf(cover);
  const title = content.find(({ role }) => role === 'P');
  const name = linesOf(content.filter(({ element, role }) => role === 'P' && element === title?.element));
  const words = name.map(textOf).join(' ').trim().split(/\s+/u).join(' ');
  return nameOnCover(words).map((part) => part.split('\u00A0').map(wordAt));
};

/** A line that ends within a word of the name, or between words of it that belong together. @param parts of the name */
const tornNames = (page: LaidOutPage, parts: readonly (readonly string[])[]): string[] => {
  const isTorn = (last: string, first: string): boolean =>
    HYPHEN.test(last)
      ? parts
          .flat()
          .some((word) => word.length <= LONGEST_WORD && word === last.replace(HYPHEN, '') + wordAt(first))
      : // Two particles, as in “de la”, are words of any text.
        /^\p{Lu}/u.test(first) &&
        parts.some((part) =>
          part.some((word, index) => word === wordAt(last) && part[index + 1] === wordAt(first)),
        );
  const texts = linesOf(contentOf(page).filter(({ role }) => role !== 'TD' && role !== 'Lbl'));
  return texts.slice(1).flatMap((line, index) => {
    if (line[0]?.element !== texts[index]?.[0]?.element) return [];
    const last = textOf(texts[index] ?? [])
      .trim()
      .split(/\s/u)
      .at(-1)!;
    const first = textOf(line).trim().split(/\s/u)[0]!;
    return isTorn(last, first) ? [`the name is torn after “${last.replace(HYPHEN, '')}”`] : [];
  });
};

/** French sets the letters of an ordinal as superiors: 1er, 2e. English leaves them on the line. */
const ORDINAL = /(?<![\p{L}\d])\d+(?:er|re|e|es)(?![\p{L}\d])/u;

const ordinals = ({ runs }: LaidOutPage): string[] =>
  runs
    .filter(({ text }) => ORDINAL.test(text))
    .map(({ text }) => `the ordinal in “${short(text)}” is not superior`);

/** A particle at the end of a line of the cover, parted from its name. */
const PARTICLE = /(?:^|\s)(?:de|du|des|la|le|les|von|van|der|den|di|da|dos|das|del|della|y|st\.?)\s*$/iu;

const cover = (page: LaidOutPage): string[] => {
  const title = page.runs.find(({ role }) => role !== null);
  const left = title?.left ?? 0;
  return [
    ...overfull(page, { left, right: page.width - left }),
    ...(title?.role === 'H1' ? [] : ['the title on the cover is not tagged as one']),
    ...linesOf(contentOf(page))
      .map(textOf)
      .filter((text) => PARTICLE.test(text))
      .map((text) => `“${short(text)}” parts a name from its particle`),
  ];
};

/** Everything careless on the pages of a booklet; empty when there is nothing. */
export const pageFaults = (pages: readonly LaidOutPage[], { paper, locale }: Expected): PageFault[] => {
  const measure = measureOf(pages);
  const [width, height] = SIZES[paper];
  const name = pages[0] ? nameOn(pages[0]) : [];
  return pages.flatMap((page, index) => {
    const next = pages[index + 1];
    const fill = covered(page, measure) / (measure.bottom - measure.top);
    const isInside = index > 0 && index < pages.length - 1;
    const found = [
      ...(Math.abs(page.width - width) + Math.abs(page.height - height) < 1 ? [] : [`is not ${paper}`]),
      ...(index === 0
        ? cover(page)
        : [...overfull(page, measure), ...lonely(page, next), ...tornNames(page, name)]),
      ...split(page, next),
      ...(isInside && fill < LEAST_FILL ? [`is ${Math.round(fill * 100)} % full`] : []),
      ...overlaps(page),
      ...(locale === 'fr-FR' ? ordinals(page) : []),
    ];
    return found.map((fault) => ({ page: index + 1, fault }));
  });
};
