import type { Locale } from '../../document/document.js';
import type { Box, LaidOutPage, Run } from './laid-out.js';
import { contentOf, type Line, linesOf, textOf } from './lines.js';

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

const isHeading = ({ role }: Run): boolean => /^H\d$/.test(role ?? '');
const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

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

const overlaps = ({ runs }: LaidOutPage): string[] =>
  runs.flatMap((run, index) =>
    runs
      .slice(index + 1)
      .filter((other) => overlapping(run, other))
      .map((other) => `“${short(other.text)}” is printed over “${short(run.text)}”`),
  );

/** Stops and hyphens hang in the margin, so that the edge looks straight. */
const HANGS = /[.,:;\u2010\u00AD’”»–—…-]\s*$/u;

const overfull = (page: LaidOutPage, measure: Box): string[] =>
  linesOf(contentOf(page).filter(({ text }) => text.trim() !== ''))
    .filter((line) =>
      line.some(
        ({ left, right, size, text }) =>
          right > measure.right + (HANGS.test(text) ? 0.5 * size : TOLERANCE) ||
          left < measure.left - TOLERANCE,
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
const lonelyItem = (page: LaidOutPage, next: LaidOutPage | undefined): string[] => {
  const [above, below] = [linesOf(contentOf(page)).reverse(), next ? linesOf(contentOf(next)) : []].map(
    (lines) => elementsOf(lines.slice(0, leading(lines, 'LI'))),
  ) as [ReadonlySet<string>, ReadonlySet<string>];
  if (above.size === 0 || below.size === 0 || [...above].some((element) => below.has(element))) return [];
  return Math.min(above.size, below.size) === 1 ? ['a list leaves a single item'] : [];
};

/** A note on top of a page, parted from the table, list or paragraph that it explains. */
const lonelyNote = (page: LaidOutPage): string[] => {
  const [first] = linesOf(contentOf(page));
  return first?.every(({ size, role }) => size < SMALLEST_TEXT && role === 'P')
    ? ['a note is parted from what it explains']
    : [];
};

/** A paragraph of one line that concludes a part, alone on top of a page. */
const lonelyLine = (page: LaidOutPage, before: LaidOutPage | undefined): string[] => {
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
const partedTable = (page: LaidOutPage, next: LaidOutPage | undefined): string[] => {
  const content = linesOf(contentOf(page)).reverse();
  const [first] = next ? linesOf(contentOf(next)) : [];
  const rows = leading(content, 'TD');
  const isTable = first?.every(({ role }) => role === 'TH') === true;
  const isList = first?.every(({ within }) => within.includes('LI')) === true;
  return rows > 0 && (isTable || (isList && rows <= SHORT_TABLE))
    ? [`“${short(textOf(first ?? []))}” is parted from the table above it`]
    : [];
};

/** A pull quote below all text of its page. */
const lastQuote = ({ runs }: LaidOutPage): string[] => {
  const quote = runs.filter(({ role, size }) => role === null && size === QUOTE);
  const lowest = Math.max(...runs.filter(({ role }) => role !== null).map(({ baseline }) => baseline));
  return quote.some(({ baseline }) => baseline > lowest) ? [`“${short(textOf(quote))}” ends its page`] : [];
};

const split = (page: LaidOutPage, next: LaidOutPage | undefined): string[] =>
  [
    ['TD', 'a table leaves a single line'],
    ['LI', 'a list leaves a single line'],
  ].flatMap(([tag = '', fault = '']) => {
    // The head of a table is repeated as an artifact, so a page that begins with cells continues one.
    const below = next ? leading(linesOf(contentOf(next)), tag) : 0;
    const above = leading(linesOf(contentOf(page)).reverse(), tag);
    return below > 0 && above > 0 && Math.min(above, below) < LEAST_PART ? [fault] : [];
  });

/** A line of a cell that begins with the end of a sum: a last step, or an age and its letter. */
const END_OF_SUM = /^(?:→|\d+, \p{Lu})/u;

const partedSums = ({ runs }: LaidOutPage): string[] => {
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

/** Sizes of the closing questions, of leads, of a question in a box, and of pull quotes. */
const QUESTION = 12;
const LEAD = 12.4;
const BOXED_QUESTION = 13;
const QUOTE = 16;

const isLarge = ({ role, size }: Run): boolean =>
  (role === 'P' && (size === QUESTION || size === LEAD || size === BOXED_QUESTION)) ||
  (role === null && size === QUOTE);

/** A large text that is broken after the hyphen of a word, such as “rendez-” and “vous”. */
const brokenWords = ({ runs }: LaidOutPage): string[] =>
  linesOf(runs.filter(isLarge))
    .map(textOf)
    .filter((text) => /\p{L}-\s*$/u.test(text))
    .map((text) => `a word is broken after “${text.trim().split(/\s/).at(-1)}” in large type`);

const WORD = /[\p{L}\p{N}]+(?:[’-][\p{L}\p{N}]+)*/gu;

/** A large text of several lines, the last of which is a single word. */
const loneWords = ({ runs }: LaidOutPage): string[] => {
  const large = runs.filter(isLarge);
  return [...new Set(large.map(({ element }) => element))].flatMap((element) => {
    const lines = linesOf(large.filter((each) => each.element === element)).map(textOf);
    const last = lines.at(-1) ?? '';
    return lines.length > 1 && (last.match(WORD) ?? []).length < 2
      ? [`“${short(lines.join(' '))}” ends in a line of one word, “${last.trim()}”`]
      : [];
  });
};

/** Where the questions take two pages, the last page has more than one. */
const lonelyQuestion = (page: LaidOutPage): string[] => {
  const content = contentOf(page);
  const questions = new Set(content.filter(({ size }) => size === QUESTION).map(({ element }) => element));
  return content.some(({ role, size }) => role === 'H2' && size > QUOTE) || questions.size > 1
    ? []
    : [`has ${questions.size === 0 ? 'no question' : 'a single question'}`];
};

const lettersOf = (runs: readonly Run[]): string =>
  runs.map(({ text }) => text.replace(/[^\p{L}]/gu, '')).join('');

/** Letters between a pull quote and its sentence in the text, at least. */
const LEAST_DISTANCE = 120;

const echo = (page: LaidOutPage): string[] => {
  const quote = page.runs.filter(({ role, size }) => role === null && size === QUOTE);
  if (quote.length === 0) return [];
  const until = Math.max(...quote.map(({ baseline }) => baseline));
  const text = lettersOf(contentOf(page).filter(({ baseline }) => baseline > until));
  const distance = text.indexOf(lettersOf(quote));
  return distance >= 0 && distance < LEAST_DISTANCE ? [`“${short(textOf(quote))}” is repeated at once`] : [];
};

/** A particle at the end of a line of the cover, parted from its name. */
const PARTICLE = /(?:^|\s)(?:de|du|des|la|le|les|von|van|der|den|di|da|dos|das|del|della|y|st\.?)\s*$/iu;

const cover = (page: LaidOutPage): string[] => {
  const title = page.runs.find(({ role }) => role !== null);
  return [
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
