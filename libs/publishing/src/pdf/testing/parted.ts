import { nameOnCover } from '../names.js';
import type { LaidOutPage, Run } from './laid-out.js';
import { contentOf, isHeading, type Line, linesOf, short, textOf } from './lines.js';

/** What stands on one page or line, and what it belongs to on another. Lengths are in points. */

/** A table or list that goes on overleaf has this many lines on each of the two pages. */
const LEAST_PART = 2;
/** Size of running text. */
const TEXT = 11;
/** Notes are smaller than this. */
const SMALLEST_TEXT = 10;

/** Paragraphs and items of these lines; the marks of a list are none. */
const elementsOf = (lines: readonly Line[]): ReadonlySet<string> =>
  new Set(
    lines
      .flat()
      .filter(({ role }) => role !== 'Lbl')
      .map(({ element }) => element),
  );

/** How many of these lines, from the first, are in a row of a table or an item of a list. */
const leading = (lines: readonly Line[], tag: string): number => {
  const end = lines.findIndex((line) => !line.every(({ within }) => within.includes(tag)));
  return end < 0 ? lines.length : end;
};

/** A list with one item overleaf, or all but one. An item that goes on overleaf is not alone. */
export const lonelyItem = (page: LaidOutPage, next: LaidOutPage | undefined): string[] => {
  const [above, below] = [linesOf(contentOf(page)).reverse(), next ? linesOf(contentOf(next)) : []].map(
    (lines) => elementsOf(lines.slice(0, leading(lines, 'LI'))),
  ) as [ReadonlySet<string>, ReadonlySet<string>];
  if (above.size === 0 || below.size === 0 || [...above].some((element) => below.has(element))) return [];
  return Math.min(above.size, below.size) === 1 ? ['a list leaves a single item'] : [];
};

/** A note on top of a page, parted from the table, list or paragraph that it explains. */
export const lonelyNote = (page: LaidOutPage): string[] => {
  const [first] = linesOf(contentOf(page));
  return first?.every(({ size, role }) => size < SMALLEST_TEXT && role === 'P')
    ? ['a note is parted from what it explains']
    : [];
};

/** A paragraph of one line that concludes a part, alone on top of a page. */
export const lonelyLine = (page: LaidOutPage, before: LaidOutPage | undefined): string[] => {
  const [first, second] = linesOf(contentOf(page));
  const isAlone =
    first?.every(({ role, size }) => role === 'P' && size === TEXT) === true &&
    second?.every(isHeading) === true;
  const above = before ? contentOf(before) : [];
  const goesOn = above.some(({ element }) => element === first?.[0]?.element);
  return isAlone && !goesOn && above.at(-1)?.role === 'P'
    ? [`“${short(textOf(first))}” is parted from what it concludes`]
    : [];
};

/** A table of more lines may be split, so that nothing keeps remarks with it. */
const SHORT_TABLE = 12;

/** A list or a table that follows a short table overleaf. A table that goes on there is not parted. */
export const partedTable = (page: LaidOutPage, next: LaidOutPage | undefined): string[] => {
  const content = linesOf(contentOf(page)).reverse();
  const [first] = next ? linesOf(contentOf(next)) : [];
  const rows = leading(content, 'TD');
  const isTable = first?.every(({ role }) => role === 'TH') === true;
  const isList = first?.every(({ within }) => within.includes('LI')) === true;
  return rows > 0 && (isTable || (isList && rows <= SHORT_TABLE))
    ? [`“${short(textOf(first ?? []))}” is parted from the table above it`]
    : [];
};

export const split = (page: LaidOutPage, next: LaidOutPage | undefined): string[] =>
  [
    ['TD', 'a table leaves a single line'],
    ['LI', 'a list leaves a single line'],
  ].flatMap(([tag = '', fault = '']) => {
    // The head of a table is repeated as an artifact, so a page that begins with cells continues one.
    const below = next ? leading(linesOf(contentOf(next)), tag) : 0;
    const above = leading(linesOf(contentOf(page)).reverse(), tag);
    return below > 0 && above > 0 && Math.min(above, below) < LEAST_PART ? [fault] : [];
  });

/** A line of a cell that begins with the end of a sum: a result, an age and its letter, or half of a term. */
const END_OF_SUM = /^(?:[=→]|\d+, \p{Lu}|\p{Ll}[^=]*=)/u;

export const partedSums = ({ runs }: LaidOutPage): string[] => {
  const cells = new Map<string, Run[]>();
  for (const run of runs.filter(({ role }) => role === 'TD'))
    cells.set(run.element, [...(cells.get(run.element) ?? []), run]);
  return [...cells.values()].flatMap((cell) =>
    linesOf(cell)
      .slice(1)
      .map((line) => textOf(line).trim())
      .filter((text) => END_OF_SUM.test(text))
      .map((text) => `“${short(text)}” is parted from its sum`),
  );
};

/** The lines of each paragraph and item of running text, without the marks of lists. */
const textsOf = (page: LaidOutPage): ReadonlyMap<string, readonly string[]> => {
  const texts = new Map<string, string[]>();
  for (const line of linesOf(contentOf(page).filter(({ role }) => role !== 'TD' && role !== 'Lbl'))) {
    const element = line[0]?.element ?? '';
    const lines = texts.get(element) ?? [];
    lines.push(textOf(line).trim());
    texts.set(element, lines);
  }
  return texts;
};

/** A soft hyphen at the end of a line, or one that the word has. */
const HYPHEN = /[\u00AD\u2010-]$/u;
/** Longer words may be broken. */
const LONGEST_WORD = 16;

const wordAt = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');

/** The words of the name on the cover, by the parts that stay together. */
export const nameOn = (cover: LaidOutPage): string[][] => {
  const content = contentOf(cover);
  const title = content.find(({ role }) => role === 'P');
  const name = linesOf(content.filter(({ element, role }) => role === 'P' && element === title?.element))
    .map(textOf)
    .join(' ')
    .trim();
  return nameOnCover(name.split(/\s+/u).join(' ')).map((part) => part.split('\u00A0').map(wordAt));
};

/** A line that ends within a word of the name, or between words of it that belong together. @param parts of the name */
export const tornNames = (page: LaidOutPage, parts: readonly (readonly string[])[]): string[] => {
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
  return [...textsOf(page).values()].flatMap((lines) =>
    lines.slice(1).flatMap((line, index) => {
      const last = lines[index]?.split(/\s/u).at(-1) ?? '';
      const first = line.split(/\s/u)[0] ?? '';
      return isTorn(last, first) ? [`the name is torn after “${last.replace(HYPHEN, '')}”`] : [];
    }),
  );
};

/** A line of one word that is too short for it. */
const SHORT_WORD = /^\p{L}{2,14}\p{P}*$/u;

/** Two lines of text, the second of which is a short word or the end of one. */
export const lostWord = (page: LaidOutPage, before: LaidOutPage | undefined): string[] => {
  const earlier = new Set(before ? contentOf(before).map(({ element }) => element) : []);
  const { runs } = page;
  return [...textsOf({ ...page, runs: runs.filter(({ size }) => size === TEXT) })]
    .filter(([element, lines]) => lines.length === 2 && !earlier.has(element))
    .map(([, lines]) => lines[1] ?? '')
    .filter((line) => SHORT_WORD.test(line))
    .map((line) => `“${line}” stands alone below a line`);
};
