import type { Locale } from '../../document/document.js';
import type { Box, LaidOutPage, Run } from './laid-out.js';
import { brokenWords, echo, lastQuote, lonelyQuestion, loneWords } from './large-type.js';
import { contentOf, isHeading, linesOf, short, textOf } from './lines.js';
import {
  lonelyItem,
  lonelyLine,
  lonelyNote,
  lostWord,
  nameOn,
  partedSums,
  partedTable,
  split,
  tornNames,
} from './parted.js';

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
/** Of what follows a heading on its page. */
const LEAST_LINES = 2;
/** A drawing or a card this high may stand alone below a heading. */
const LEAST_BLOCK = 40;
/** Rounding, and side bearings that reach beyond the measure. */
const TOLERANCE = 1.5;

/** All that stands in the area of the text, lines to write on included. */
const within = ({ runs, shapes }: LaidOutPage, area: Box): readonly Box[] =>
  [...runs, ...shapes].filter(
    ({ top, bottom, left, right }) =>
      top > area.top - 2 && bottom < area.bottom + 2 && left > area.left - 3 && right < area.right + 9,
  );

/** Height that is covered, small gaps included. */
const covered = (boxes: readonly Box[]): number => {
  let sum = 0;
  let until = -Infinity;
  for (const { top, bottom } of [...boxes].sort((a, b) => a.top - b.top)) {
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

/** Headings without enough of their text on the page. */
const lonely = (page: LaidOutPage, next: LaidOutPage | undefined): string[] => {
  const { shapes } = page;
  const content = contentOf(page);
  const last = content.findLast(isHeading);
  if (!last) return [];
  const after = content.filter((run) => !isHeading(run) && run.baseline > last.baseline);
  const drawn = shapes.filter(({ role, top }) => role !== null && top > last.baseline);
  const bottom = Math.max(last.bottom, ...[...after, ...drawn].map((box) => box.bottom));
  const isWhole =
    after.length > 0 &&
    contentOf(next ?? page)
      .slice(0, 1)
      .every(isHeading);
  return isWhole || linesOf(after).length >= LEAST_LINES || bottom - last.bottom >= LEAST_BLOCK
    ? []
    : [`the text of “${short(last.text)}” is overleaf`];
};

/** French sets the letters of an ordinal as superiors: 1er, 2e. English leaves them on the line. */
const ORDINAL = /(?<![\p{L}\d])\d+(?:er|re|e|es)(?![\p{L}\d])/u;

const ordinals = ({ runs }: LaidOutPage): string[] =>
  linesOf(runs)
    .flatMap((line) => line.filter(({ text }) => ORDINAL.test(text)))
    .map(({ text }) => `the ordinal in “${short(text)}” is not superior`);

const STRAIGHT = /\p{L}'\p{L}/u;
const texts = ({ runs }: LaidOutPage): string[] =>
  linesOf(runs).flatMap((line) => {
    const text = textOf(line);
    return [
      ...(STRAIGHT.test(text) ? [`a straight apostrophe in “${short(text)}”`] : []),
      ...(/(?<!\.)\.\.(?!\.)/.test(text) ? [`two full stops in “${short(text)}”`] : []),
    ];
  });

/** Titles leave a third of the line to the leader, and the numbers of the pages end where the measure ends. */
const contents = ({ runs }: LaidOutPage, measure: Box): string[] => {
  const lines = linesOf(runs.filter(({ within }) => within.includes('TOC')));
  const longest = measure.left + ((measure.right - measure.left) * 2) / 3;
  return lines.flatMap((line) => {
    const title = line.filter(({ text }) => /\p{L}/u.test(text));
    const number = line.filter(({ text }) => /^\d+$/.test(text)).at(-1);
    return [
      ...(title.some((run) => run.right > longest)
        ? [`“${short(textOf(title))}” leaves no third of its line in the contents`]
        : []),
      ...(number && Math.abs(number.right - measure.right) < TOLERANCE
        ? []
        : [`“${short(textOf(title))}” has no page number in line`]),
    ];
  });
};

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
    const fill = covered(within(page, measure)) / (measure.bottom - measure.top);
    const isInside = index > 0 && index < pages.length - 1;
    const found = [
      ...(Math.abs(page.width - width) + Math.abs(page.height - height) < 1 ? [] : [`is not ${paper}`]),
      ...(index === 0 ? cover(page) : [...overfull(page, measure), ...lonely(page, pages[index + 1])]),
      ...split(page, pages[index + 1]),
      ...lonelyItem(page, pages[index + 1]),
      ...lonelyNote(page),
      ...lonelyLine(page, pages[index - 1]),
      ...partedTable(page, pages[index + 1]),
      ...lastQuote(page),
      ...partedSums(page),
      ...(index === 0 ? [] : [...tornNames(page, name), ...lostWord(page, pages[index - 1])]),
      ...loneWords(page),
      ...brokenWords(page),
      ...(index === pages.length - 1 ? lonelyQuestion(page) : []),
      ...echo(page),
      ...(isInside && fill < LEAST_FILL ? [`is ${Math.round(fill * 100)} % full`] : []),
      ...overlaps(page),
      ...(locale === 'fr-FR' ? ordinals(page) : []),
      ...texts(page),
      ...contents(page, measure),
    ];
    return found.map((fault) => ({ page: index + 1, fault }));
  });
};
