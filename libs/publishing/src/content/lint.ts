import type { Locale } from '../document/document.js';
import type { Catalog } from './catalog-schema.js';
import { FRENCH_AGREEMENT, LINT_RULES } from './lint-rules.js';
import type { Forms, Message } from './message.js';

/** A text that breaks a rule: `pairs.path.3-4`, the rule's name and the form that breaks it. */
export interface LintFault {
  readonly path: string;
  readonly rule: string;
  readonly text: string;
}

/** The names of the rules a text breaks. */
export const brokenRules = (locale: Locale, text: string): string[] =>
  LINT_RULES[locale].filter(({ pattern }) => pattern.test(text)).map(({ name }) => name);

/** Rules that do not apply to a whole sentence for one gender. */
const agreementRules = new Set(
  FRENCH_AGREEMENT.map(({ name }) => name).filter((name) => name !== 'two genders in one word'),
);

const isMessage = (value: object): value is Message => 'feminine' in value && 'neutral' in value;

/** Every text of a catalog with its path, e.g. `life-path.4.cost`; the one for the young is `life-path.4.cost.young`. */
export const messagesOf = (value: unknown, path = ''): [path: string, forms: Forms][] => {
  if (typeof value !== 'object' || value === null) return [];
  if (isMessage(value))
    return [[path, value], ...(value.young ? messagesOf(value.young, `${path}.young`) : [])];
  return Object.entries(value).flatMap(([key, child]) => messagesOf(child, path ? `${path}.${key}` : key));
};

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** The words that one form has and the other has not, in small letters; articles agree with any noun. */
const agreeingWords = ({ feminine, masculine }: Forms): string[] => {
  const [left, right] = [feminine, masculine].map((text) => wordsOf(text.toLowerCase()));
  return [
    ...(left ?? []).filter((word) => !right?.includes(word)),
    ...(right ?? []).filter((word) => !left?.includes(word)),
  ].filter((word) => !/^(?:la|le)$/.test(word));
};

/** A neutral form that keeps a word which agrees in its other forms, or in the name of an archetype, is no rewriting. */
export const genderFaults = (path: string, forms: Forms, lexicon: ReadonlySet<string>): LintFault[] => {
  if (forms.feminine === forms.masculine) return [];
  const rule = 'neutral form keeps an agreeing word';
  const own = new Set(agreeingWords(forms));
  const kept = wordsOf(forms.neutral.toLowerCase()).some((word) => own.has(word) || lexicon.has(word));
  return kept ? [{ path, rule, text: forms.neutral }] : [];
};

/** The faults in the prose of a language, in the order of its files. */
export const lintCatalog = (locale: Locale, catalog: Catalog): LintFault[] => {
  const messages = messagesOf(catalog);
  const archetypes = messages.filter(([path]) => path.endsWith('.archetype'));
  const lexicon = new Set(archetypes.flatMap(([, message]) => agreeingWords(message)));
  return messages.flatMap(([path, message]) => {
    const gendered = message.feminine !== message.masculine;
    const broken = [...new Set([message.feminine, message.masculine, message.neutral])].flatMap((text) =>
      brokenRules(locale, text)
        // A whole sentence for each gender may agree.
        .filter((rule) => !(gendered && text !== message.neutral && agreementRules.has(rule)))
        .map((rule) => ({ path, rule, text })),
    );
    return [...broken, ...genderFaults(path, message, lexicon)];
  });
};
