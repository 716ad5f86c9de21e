import type { LaidOutPage, Run } from './laid-out.js';
import { contentOf, linesOf, short, textOf } from './lines.js';

/** What a reader would call careless in large type: leads, questions and pull quotes. Lengths are in points. */

/** Sizes of the closing questions, of leads, of a question in a box, and of pull quotes. */
const QUESTION = 12;
const LEAD = 12.4;
const BOXED_QUESTION = 13;
const QUOTE = 16;

const isLarge = ({ role, size }: Run): boolean =>
  (role === 'P' && (size === QUESTION || size === LEAD || size === BOXED_QUESTION)) ||
  (role === null && size === QUOTE);

/** A large text that is broken after the hyphen of a word, such as “rendez-” and “vous”. */
export const brokenWords = ({ runs }: LaidOutPage): string[] =>
  linesOf(runs.filter(isLarge))
    .map(textOf)
    .filter((text) => /\p{L}-\s*$/u.test(text))
    .map((text) => `a word is broken after “${text.trim().split(/\s/).at(-1)}” in large type`);

const WORD = /[\p{L}\p{N}]+(?:[’-][\p{L}\p{N}]+)*/gu;

/** A large text of several lines, the last of which is a single word. */
export const loneWords = ({ runs }: LaidOutPage): string[] => {
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
export const lonelyQuestion = (page: LaidOutPage): string[] => {
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

export const echo = (page: LaidOutPage): string[] => {
  const quote = page.runs.filter(({ role, size }) => role === null && size === QUOTE);
  if (quote.length === 0) return [];
  const until = Math.max(...quote.map(({ baseline }) => baseline));
  const text = lettersOf(contentOf(page).filter(({ baseline }) => baseline > until));
  const distance = text.indexOf(lettersOf(quote));
  return distance >= 0 && distance < LEAST_DISTANCE ? [`“${short(textOf(quote))}” is repeated at once`] : [];
};

/** A pull quote below all text of its page. */
export const lastQuote = ({ runs }: LaidOutPage): string[] => {
  const quote = runs.filter(({ role, size }) => role === null && size === QUOTE);
  const lowest = Math.max(...runs.filter(({ role }) => role !== null).map(({ baseline }) => baseline));
  return quote.some(({ baseline }) => baseline > lowest) ? [`“${short(textOf(quote))}” ends its page`] : [];
};
