import type { Paper } from '#workspaces/contracts/index.js';
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
import {
  ONE_LINE,
  TABLE_WIDTH,
  TWO_LINES,
  plain,
  widthOf,
  setInline,
  setLarge,
  setSentence,
  setText,
  type SetInline,
} from './inlines.js';
import { nameOnCover, namesOfWords, withNameIn } from './names.js';
import { pullQuoteIn } from './pull-quotes.js';

/** A sheet that a booklet is laid out for. */
export type Sheet = Exclude<Paper, 'by-locale'>;

/** What printers hold where the language is read. */
const USUAL: Readonly<Record<Locale, Sheet>> = { 'fr-FR': 'a4', 'en-US': 'us-letter' };

/** The sheet of a document in this language. */
export const sheetOf = (paper: Paper, locale: Locale): Sheet =>
  paper === 'by-locale' ? USUAL[locale] : paper;

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
  readonly closing: { readonly title: string; readonly questions: readonly Question[] } | null;
  /** Of the file: what stands below the title. */
  readonly description: string;
  readonly tree: object;
}

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

/** The first of columns that share the width may get more than the others. */
const LARGEST_SHARE = 1.4;

/**
 * Which rows of a table surely take one line each. Typst lays out a row of known height once, and any other twice. A
 * last column of text takes the width that the others leave. Columns of figures share the width. Pure.
 */
const oneLineRows = ({ head, rows, align }: Table): readonly boolean[] => {
  const widths = rows.map((row) => row.map((cell) => widthOf(plain(cell))));
  if (align !== undefined && align.at(-1) !== 'left') {
    const share = TABLE_WIDTH / (head.length - 1 + LARGEST_SHARE);
    return widths.map((row) => Math.max(...row) <= share);
  }
  const others = head
    .slice(0, -1)
    .map((cell, column) => Math.max(widthOf(plain(cell)), ...widths.map((row) => row[column] ?? 0)))
    .reduce((sum, width) => sum + width, 0);
  return widths.map((row) => others + (row.at(-1) ?? 0) <= TABLE_WIDTH);
};

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
