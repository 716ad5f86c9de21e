import type { ReadingResult } from '#numerology/index.js';
import { type Book, bookFor } from '../content/book/book.js';
import type { Form } from '../content/book/shape.js';
import { FORMATS } from '../content/locale-formats.js';
import { printedName } from '../content/typography.js';
import { type Forms, toInline, toPlain, type Values } from '../content/message.js';
import { personKey, pick, textAt, type Plan, planTexts } from './truth.js';
import type { Block, Inline, NumberRef, Paragraph, Section } from './document.js';
import { isForParents, type PositionTerm } from './facts.js';
import { numberRef, paragraph, section } from './nodes.js';

/** The numbers a section can cite by name. */
type NumberKey = keyof ReadingResult['numbers'];

/** The key of the frame that replaces another for parents: `frames/path title` is `frames/under7 path.title`. */
const forParents = (key: string): string => key.replace(/^frames\/(\S+) /, 'frames/under7 $1.');

/** Finds the form that this reader gets of each entry. */
const createSelect = (book: Book, plan: Plan, result: ReadingResult): ((key: string) => Form) => {
  const person = personKey(result);
  const parents = isForParents(result);
  return (key) => {
    const planned = plan.forms.get(key);
    if (planned) return planned;
    const replaced =
      parents && key.startsWith('frames/') && book.has(forParents(key)) ? forParents(key) : key;
    const entry = book.entry(replaced);
    const form = entry[pick(person, replaced, entry.length)];
    if (!form) throw new Error(`The entry ${replaced} has no form`);
    if (form.traits.length > 0) throw new Error(`${replaced} claims traits, but no plan knows it`);
    return form;
  };
};

/** What every section is composed from: the result, and the texts of the book that are true of its reader. */
export const createComposer = (result: ReadingResult) => {
  const { locale, age } = result;
  const gender = result.subject.subjectGender;
  const book = bookFor(locale);
  const plan = planTexts(book, result);
  const select = createSelect(book, plan, result);
  const textOf = (key: string): Forms => textAt(select(key), age);
  const plain = (key: string, values?: Readonly<Record<string, string>>): string =>
    toPlain(textOf(key), gender, values);
  const say = (key: string, values?: Values): Inline[] => toInline(textOf(key), gender, values);
  return {
    result,
    book,
    plan,
    /** Whether the reading of a child under seven speaks to the parents. */
    forParents: isForParents(result),
    /** The name as it is printed: as its owner writes it, with the apostrophe of the text. */
    name: printedName(result.subject.displayName),
    /** The text at a key of the book, `life-path/7 lead`, as inline nodes, with its placeholders filled. */
    say,
    /** The same as a string, for titles and alternative texts. */
    plain,
    /** A paragraph with the text at a key. */
    tell: (id: string, key: string, values?: Values, variant?: Paragraph['variant']): Paragraph =>
      paragraph(id, say(key, values), variant),
    /** A subsection; its title is the text at a key, or is given as `{ title }`. */
    part: (
      id: string,
      title: string | { readonly title: string },
      children: readonly (Block | Section)[],
      refs?: readonly string[],
    ): Section =>
      section(id, 'subsection', typeof title === 'string' ? plain(title) : title.title, children, refs),
    /** All forms of an entry that is a list rather than a choice. */
    all: (key: string): Inline[][] => book.entry(key).map((form) => toInline(textAt(form, age), gender)),
    /** A link to one of `result.numbers`, printed as the result displays it. */
    number: (key: NumberKey): NumberRef => numberRef(`numbers.${key}`, result.numbers[key].display),
    /** A position with its article: "the Life Path". */
    position: (term: PositionTerm): string => plain(`frames/terms positions.${term}`),
    ...FORMATS[locale],
    /** « une lettre », « 5 lettres » */
    letterCount: (count: number): string =>
      count === 1
        ? plain('frames/terms letterCountOne')
        : plain('frames/terms letterCountMany', { count: String(count) }),
  };
};

export type Composer = ReturnType<typeof createComposer>;
