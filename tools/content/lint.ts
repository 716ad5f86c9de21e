import type { Locale } from '@app/publishing/document/document.js';
import { LINT_RULES } from './lint-rules.js';
import type { Forms } from '@app/publishing/content/message.js';

/** The names of the rules a text breaks. */
export const brokenRules = (locale: Locale, text: string): string[] =>
  LINT_RULES[locale].filter(({ pattern }) => pattern.test(text)).map(({ name }) => name);

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** The words that one form has and the other has not, in small letters; articles agree with any noun. */
const agreeingWords = ({ feminine, masculine }: Forms): string[] => {
  const [left, right] = [feminine, masculine].map((text) => wordsOf(text.toLowerCase()));
  return [
    ...(left ?? []).filter((word) => !right?.includes(word)),
    ...(right ?? []).filter((word) => !left?.includes(word)),
  ].filter((word) => !/^(?:la|le)$/.test(word));
};

/** Whether the neutral form keeps a word that agrees in the other forms, and so is no rewriting. */
export const keepsAgreement = (forms: Forms): boolean => {
  if (forms.feminine === forms.masculine) return false;
  const own = new Set(agreeingWords(forms));
  return wordsOf(forms.neutral.toLowerCase()).some((word) => own.has(word));
};
