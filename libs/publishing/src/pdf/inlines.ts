import type { Inline, Locale } from '../document/document.js';

/**
 * A piece of text that pages set apart. `superior`: letters of an ordinal, 1er, 2e, which Markdown prints on the line;
 * `unbroken`: a word with hyphens that no line breaks; `whole`: words that no line breaks with a hyphen; `long`: a word that
 * may fit in no line.
 */
interface Piece {
  readonly type: 'superior' | 'unbroken' | 'whole' | 'long';
  readonly value: string;
}

/** A piece of text as pages need it. */
export type SetInline = Inline | Piece;
type PieceType = 'text' | Piece['type'];

export const plain = (nodes: readonly Inline[]): string =>
  nodes.map((node) => ('children' in node ? plain(node.children) : node.value)).join('');

// Lengths in the size of the text of a table. The template has the same table: 126 mm wide, text of 9.6 pt, cells with
// 8 pt on either side.
const SIZE_PT = 9.6;
export const TABLE_WIDTH = ((126 / 25.4) * 72) / SIZE_PT;
const CELL_MARGINS = (2 * 8) / SIZE_PT;

/** No letter of a kind is wider in Source Serif 4, regular or semibold. */
const NARROW = { letters: /[ \u00A0ijlt.,:;’'()-]/, width: 0.4 };
const USUAL = { letters: /[a-ln-vx-zà-åç-öø-ÿ\d+=−]/, width: 0.68 };
const WIDEST = 1.05;

/** At most so wide is a text in the faces of the documents, with the margins of a cell; in its size. */
export const widthOf = (text: string): number =>
  Array.from(text, (letter) => {
    if (NARROW.letters.test(letter)) return NARROW.width;
    return USUAL.letters.test(letter) ? USUAL.width : WIDEST;
  }).reduce((sum, width) => sum + width, CELL_MARGINS);

/** A text in pieces: what a pattern with one group finds, and what stands between, each made into a node. */
export const pieces = (value: string, pattern: RegExp, found: PieceType, between: PieceType): SetInline[] =>
  value
    .split(pattern)
    .flatMap((piece, index): SetInline[] =>
      piece === '' ? [] : [{ type: index % 2 === 1 ? found : between, value: piece }],
    );

const ORDINAL = /(?<=(?<![\p{L}\d])\d+)(er|re|e|es)(?![\p{L}\d])/u;

/** Only French sets ordinals so; English keeps 1st on the line (Chicago 9.6). */
const withSuperiors = (nodes: readonly Inline[]): readonly SetInline[] =>
  nodes.flatMap((node): SetInline[] => {
    if ('children' in node) return [{ ...node, children: withSuperiors(node.children) } as Inline];
    if (node.type !== 'text' || !ORDINAL.test(node.value)) return [node];
    return pieces(node.value, ORDINAL, 'superior', 'text');
  });

/** A sum breaks before a sign: no line starts with a lone figure. */
const SIGN = /(?<= [+=→−]) (?=[\p{Lu}\d])/gu;

/** The steps of a reduction stay with the sum. In the row of the essence, the letter stays with its age and its word. */
const STEP = new RegExp(
  [
    String.raw`(?<=\d) (?=→\u00A0\d)`,
    String.raw`(?<=[\d)],) (?=(?:\d+, )?\p{Lu}\u00A0\d$)`,
    String.raw`(?<=(?<!\p{Lu})\p{Lu}{1,16}) (?=\(\d+\), \d+, \p{Lu}\u00A0\d$)`,
  ].join('|'),
  'gu',
);

const withSums = (nodes: readonly Inline[], isOneLine: boolean): readonly Inline[] =>
  nodes.map((node) => {
    if ('children' in node) return { ...node, children: withSums(node.children, isOneLine) };
    const value = node.value.replace(SIGN, '\u00A0');
    // The file names each no-break space, which costs bytes and time.
    return { ...node, value: isOneLine ? value : value.replace(STEP, '\u00A0') };
  });

export const setInline = (locale: Locale, nodes: readonly Inline[], isOneLine = false): readonly Inline[] => {
  const set = withSums(nodes, isOneLine);
  return locale === 'fr-FR' ? (withSuperiors(set) as readonly Inline[]) : set;
};

/** A word with hyphens, with what stands beside it. Longer ones fit in no narrow column. */
const HYPHENATED = /(?<!\S)(?=\S{1,24}(?!\S))(\S*\p{L}-\p{L}\S*)/u;

/** In large lines, a break after a hyphen catches the eye. A box and no other hyphen: copied text stays the same. */
const withUnbroken = (nodes: readonly SetInline[]): readonly SetInline[] =>
  nodes.flatMap((node): SetInline[] => {
    if ('children' in node) return [{ ...node, children: withUnbroken(node.children) as readonly Inline[] }];
    if (node.type !== 'text' && node.type !== 'whole') return [node];
    return pieces(node.value, HYPHENATED, 'unbroken', node.type);
  });

/** The last two words of a text. Longer ones fill enough of a line. */
const LAST_WORDS = /(?<=(?:^| ))([^ ]{1,12} [^ ]{1,14})$/u;

/** A last word whose text is its own, because other nodes precede it. */
const AFTER_ANOTHER = /^ [^ ]{1,14}$/u;

/** The space between two short words at the end of running text. Typst sees to words that are too short for a hyphen. */
const BETWEEN_SHORT_WORDS = /(?<=.{20} [^ ]{1,7}) (?=[^ ]{5,7}$)/u;

/** Ends a text with two words in its last line. For Typst, a word that a hyphen could part is never alone. */
const withLastWords = (nodes: readonly Inline[]): readonly Inline[] => {
  const last = nodes.at(-1);
  return last?.type === 'text'
    ? [...nodes.slice(0, -1), { ...last, value: last.value.replace(BETWEEN_SHORT_WORDS, '\u00A0') }]
    : nodes;
};

/** Ends a lead or a short text so, without a hyphen. Below two lines a word looks lost, and half a word more so. */
const withWholeLastWords = (nodes: readonly Inline[]): readonly SetInline[] => {
  const last = nodes.at(-1);
  if (last?.type !== 'text') return nodes;
  // What precedes a single word is a superior or a number.
  const [before = '', words] = AFTER_ANOTHER.test(last.value)
    ? ['', last.value]
    : last.value.split(LAST_WORDS);
  return words === undefined
    ? nodes
    : [
        ...nodes.slice(0, -1),
        ...(before === '' ? [] : [{ type: 'text' as const, value: before }]),
        { type: 'whole', value: words.replace(' ', '\u00A0') },
      ];
};

export const setLarge = (locale: Locale, nodes: readonly Inline[]): readonly SetInline[] =>
  withUnbroken(withWholeLastWords(setInline(locale, nodes)));

export const setSentence = (locale: Locale, value: string): readonly SetInline[] =>
  setLarge(locale, [{ type: 'text', value }]);

/** Characters of one line of the measure, or a little more. */
export const ONE_LINE = 90;
/** Of two lines. */
export const TWO_LINES = 150;
/** Of text that surely takes one. */
const NO_SECOND_LINE = 50;

export const setText = (locale: Locale, nodes: readonly Inline[]): readonly Inline[] => {
  const { length } = plain(nodes);
  const set = setInline(locale, nodes);
  if (length <= NO_SECOND_LINE) return set;
  return length <= TWO_LINES ? (withWholeLastWords(set) as readonly Inline[]) : withLastWords(set);
};
