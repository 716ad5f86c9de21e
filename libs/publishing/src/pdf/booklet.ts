import type {
  Block,
  Callout,
  DocumentV1,
  Inline,
  List,
  Locale,
  Paragraph,
  Section,
  Table,
} from '../document/document.js';
import type { Sheet } from './paper.js';
import { nameInHead, nameOnCover, namesOfWords } from './name-on-cover.js';
import { oneLineRows } from './one-line-rows.js';
import { pullQuoteIn } from './pull-quotes.js';

/** Letters of an ordinal, set as superiors: 1er, 2e. The tree has none: Markdown prints them on the line. */
interface Superior {
  readonly type: 'superior';
  readonly value: string;
}

/** A word with hyphens that no line breaks. */
interface Unbroken {
  readonly type: 'unbroken';
  readonly value: string;
}

/** Words that no line breaks with a hyphen. */
interface Whole {
  readonly type: 'whole';
  readonly value: string;
}

/** A sentence of the section, repeated large. An ornament: readers of the text do not hear it. */
interface PullQuote {
  readonly type: 'pullQuote';
  readonly children: readonly SetInline[];
}

/** A question of the closing page, and how many letters it has. */
interface Question {
  readonly letters: number;
  readonly children: readonly SetInline[];
}

type SetInline = Inline | Superior | Unbroken | Whole;
/**
 * A short paragraph, of about one line, stays with what follows; one that concludes stays with what precedes. A short list
 * stays on one page.
 */
type SetBlock =
  | Block
  | PullQuote
  | ((Paragraph | List) & { readonly short: boolean })
  | (Paragraph & { readonly concludes: boolean });

/** What the template typesets: the document, and what only pages need. */
export interface Booklet {
  readonly paper: Sheet;
  /** The name in parts that stay on one line. */
  readonly name: readonly string[];
  readonly head: string;
  readonly closing: { readonly title: string; readonly questions: readonly Question[] } | null;
  /** Of the file: what stands below the title. */
  readonly description: string;
  readonly tree: object;
}

const plain = (nodes: readonly Inline[]): string =>
  nodes.map((node) => ('children' in node ? plain(node.children) : node.value)).join('');

const ORDINAL = /(?<=(?<![\p{L}\d])\d+)(er|re|e|es)(?![\p{L}\d])/u;

/** Only French sets ordinals so; English keeps 1st on the line (Chicago 9.6). */
const withSuperiors = (nodes: readonly Inline[]): readonly SetInline[] =>
  nodes.flatMap((node): SetInline[] => {
    if ('children' in node) return [{ ...node, children: withSuperiors(node.children) } as Inline];
    if (node.type !== 'text' || !ORDINAL.test(node.value)) return [node];
    return node.value
      .split(new RegExp(ORDINAL, 'gu'))
      .map((value, index): SetInline => ({ type: index % 2 === 1 ? 'superior' : 'text', value }));
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

const setInline = (locale: Locale, nodes: readonly Inline[], isOneLine = false): readonly Inline[] => {
  const set = withSums(nodes, isOneLine);
  return locale === 'fr-FR' ? (withSuperiors(set) as readonly Inline[]) : set;
};

/** A word with hyphens, with what stands beside it. Longer ones fit in no narrow column. */
const HYPHENATED = /(?<!\S)(?=\S{1,24}(?!\S))(\S*\p{L}-\p{L}\S*)/u;

/** A word of this many letters fits in no line that is nearly full, so a line may break it. */
const LONG_NAME = /(\S*\p{L}{17,}\S*)/u;

/** A name in running text: no word of it is hyphenated, and its particles and suffixes stay with it, as on the cover. */
const setName = (name: string): readonly SetInline[] =>
  nameOnCover(name)
    .join(' ')
    .split(LONG_NAME)
    .flatMap((value, index): SetInline[] =>
      value === '' ? [] : [{ type: index % 2 === 1 ? 'text' : 'whole', value }],
    );

const withName = (name: string, nodes: readonly Inline[]): readonly SetInline[] =>
  nodes.flatMap((node): SetInline[] => {
    if ('children' in node) return [{ ...node, children: withName(name, node.children) } as Inline];
    if (node.type !== 'text' || !node.value.includes(name)) return [node];
    return node.value
      .split(name)
      .flatMap((value, index): SetInline[] => [
        ...(index > 0 ? setName(name) : []),
        ...(value === '' ? [] : [{ type: 'text' as const, value }]),
      ]);
  });

const withNameIn = <Node extends Block | Section>(name: string, node: Node): Node => {
  if (node.type === 'paragraph') return { ...node, children: withName(name, node.children) };
  if (node.type !== 'section' && node.type !== 'callout' && node.type !== 'blockquote') return node;
  return { ...node, children: (node.children as (Block | Section)[]).map((each) => withNameIn(name, each)) };
};

/** In large lines, a break after a hyphen catches the eye. A box and no other hyphen: copied text stays the same. */
const withUnbroken = (nodes: readonly SetInline[]): readonly SetInline[] =>
  nodes.flatMap((node): SetInline[] => {
    if ('children' in node) return [{ ...node, children: withUnbroken(node.children) as readonly Inline[] }];
    if (node.type !== 'text' && node.type !== 'whole') return [node];
    return node.value
      .split(HYPHENATED)
      .flatMap((value, index): SetInline[] =>
        value === '' ? [] : [{ type: index % 2 === 1 ? 'unbroken' : node.type, value }],
      );
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

const setLarge = (locale: Locale, nodes: readonly Inline[]): readonly SetInline[] =>
  withUnbroken(withWholeLastWords(setInline(locale, nodes)));

const setSentence = (locale: Locale, value: string): readonly SetInline[] =>
  setLarge(locale, [{ type: 'text', value }]);

/** Characters of one line of the measure, or a little more. */
const ONE_LINE = 90;
/** Of two lines. */
const TWO_LINES = 150;
/** Of text that surely takes one. */
const NO_SECOND_LINE = 50;

const setText = (locale: Locale, nodes: readonly Inline[]): readonly Inline[] => {
  const { length } = plain(nodes);
  const set = setInline(locale, nodes);
  if (length <= NO_SECOND_LINE) return set;
  return length <= TWO_LINES ? (withWholeLastWords(set) as readonly Inline[]) : withLastWords(set);
};

const isQuestion = (node: Block | Section): node is Callout =>
  node.type === 'callout' && node.variant === 'question';

const questionsOf = (node: Block | Section): Callout[] => {
  if (isQuestion(node)) return [node];
  return node.type === 'section' ? node.children.flatMap(questionsOf) : [];
};

/** The sentences of a callout, which are questions. */
const sentencesOf = ({ children }: Callout): string[] =>
  children
    .flatMap((block) => (block.type === 'paragraph' ? [plain(block.children)] : []))
    .flatMap((text) => text.split(/(?<=\?) (?=\p{Lu}|[«“])/u));

/** A list of this many lines is not split: a single item at the top of a page looks lost. */
const SHORT_LIST = 14;
/** Characters of one line of a list. */
const LIST_LINE = 78;

const isShort = ({ children }: List): boolean =>
  children.reduce((sum, item) => sum + Math.ceil(plain(item.children).length / LIST_LINE), 0) <= SHORT_LIST;

/** Letters in a row that fit in a narrow column of a table. */
const LONG_WORD = /\p{L}{25,}/gu;
const SYLLABLE = /\p{L}{9}(?=\p{L}{4})/gu;

/** In a sum of a cell, before a result or a difference, and between the words of a term: `Hidden passion 1`. */
const IN_SUM = / (?=[=−]\u00A0)|(?<=\p{L}) (?=[\p{L}\d])/gu;

/** May break a long word of a table, with a hyphen: no dictionary knows how. */
const setCell = (locale: Locale, cell: readonly Inline[], isOneLine: boolean): readonly Inline[] =>
  setInline(locale, cell, isOneLine).map((node) => {
    if (node.type !== 'text') return node;
    const value =
      !isOneLine && node.value.includes('=\u00A0') ? node.value.replace(IN_SUM, '\u00A0') : node.value;
    return { ...node, value: value.replace(LONG_WORD, (word) => word.replace(SYLLABLE, '$&\u00AD')) };
  });

/** Columns of a table with long words have other widths. */
type SetTable = Table & { readonly longWords: boolean; readonly oneLine: readonly boolean[] };

const setTable = (locale: Locale, node: Table): SetTable => {
  const longWords = node.rows.some(([first]) => first !== undefined && plain(first).search(LONG_WORD) >= 0);
  const oneLine = longWords ? node.rows.map(() => false) : oneLineRows(node);
  return {
    ...node,
    longWords,
    oneLine,
    head: node.head.map((cell) => setCell(locale, cell, false)),
    rows: node.rows.map((row, index) => row.map((cell) => setCell(locale, cell, oneLine[index] === true))),
  };
};

const namesOf = (words: readonly (readonly { readonly letter: string }[])[]): number[][] =>
  namesOfWords(words.map((word) => word.map(({ letter }) => letter).join('')));

const setBlock = (locale: Locale, node: Block, isFirst: boolean, inQuestion = false): SetBlock => {
  switch (node.type) {
    case 'paragraph': {
      const isLarge = inQuestion || node.variant === 'lead';
      const children = isLarge
        ? (setLarge(locale, node.children) as Inline[])
        : setText(locale, node.children);
      const set = { ...node, children };
      const { length } = plain(node.children);
      // The first sentence of a year's months leads to them.
      if ((isFirst || node.id.endsWith('.turn')) && length <= ONE_LINE) return { ...set, short: true };
      return !isFirst && length <= TWO_LINES ? { ...set, concludes: true } : set;
    }
    case 'list':
      return {
        ...node,
        short: isShort(node),
        children: node.children.map((item) => ({ ...item, children: setText(locale, item.children) })),
      };
    case 'table':
      return setTable(locale, node);
    case 'figure':
      // Pages draw it.
      return {
        ...node,
        fallback: [],
        ...(node.kind === 'letterStrip' && { names: namesOf(node.data.words) }),
      };
    case 'callout':
    case 'blockquote':
      return {
        ...node,
        children: node.children.map((each) => setBlock(locale, each, false, isQuestion(node)) as Block),
      };
    default:
      return node;
  }
};

const setSection = (locale: Locale, node: Section, closing: Callout | undefined): Section => {
  const quote = pullQuoteIn(locale, node);
  const children = node.children.flatMap((child, index): (SetBlock | Section)[] => {
    if (child === closing) return [];
    if (child.type === 'section') return [setSection(locale, child, closing)];
    const set = setBlock(locale, child, index === 0);
    return quote?.after === index
      ? [set, { type: 'pullQuote', children: setSentence(locale, quote.sentence) }]
      : [set];
  });
  return { ...node, children: children as Section['children'] };
};

/**
 * Prepares a document for the pages of its booklet. The questions of the synthesis move to the closing page, which
 * repeats the earlier ones. Pure.
 */
export const bookletOf = (document: DocumentV1, paper: Sheet): Booklet => {
  const { locale } = document;
  const children = document.children.map((each) => withNameIn(document.subtitle, each));
  const questions = children.flatMap(questionsOf);
  const last = questions.at(-1);
  return {
    paper,
    description: document.details.join('. '),
    name: nameOnCover(document.subtitle),
    head: nameInHead(document.subtitle),
    closing:
      last?.title === undefined
        ? null
        : {
            title: last.title,
            questions: questions.flatMap(sentencesOf).map((sentence) => ({
              letters: sentence.length,
              children: setSentence(locale, sentence),
            })),
          },
    tree: {
      ...document,
      details: document.details.map((value) => setInline(locale, [{ type: 'text', value }])),
      children: children.map((each) => setSection(locale, each, last)),
    },
  };
};
