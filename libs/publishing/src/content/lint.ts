import type { Locale } from '../document/document.js';
import type { Catalog } from './catalog-schema.js';
import type { Forms, Message } from './message.js';

/** A pattern that no text of a language may match, and why. */
export interface LintRule {
  readonly name: string;
  readonly pattern: RegExp;
}

/** A text that breaks a rule: `pairs.path.3-4`, the rule's name and the form that breaks it. */
export interface LintFault {
  readonly path: string;
  readonly rule: string;
  readonly text: string;
}

const FRENCH_CLAIMS: readonly LintRule[] = [
  {
    name: 'health',
    pattern: /(?<!\p{L})(?:maladies?|malades?|guéri|dépress|grossesse|symptôme|thérap|diagnosti)/iu,
  },
  { name: 'money or law', pattern: /\b(?:investi\p{L}*|loterie|héritage|fortune|procès|placement)\b/iu },
  { name: 'death', pattern: /\b(?:mort|mourir|mourrez|décès|longévité)(?!\p{L})/iu },
  { name: 'promise', pattern: /vous (?:rencontrerez|trouverez|recevrez|deviendrez|gagnerez|serez)/iu },
  {
    name: 'religion or origin',
    pattern: /\b(?:dieu|karma|vies antérieures|religion\w*|ethnie|race)\b/iu,
  },
  { name: 'jargon', pattern: /(?<!\p{L})(?:énergies?|énergétique|vibr\w*|univers|chakra\w*)(?!\p{L})/iu },
  { name: 'change of name', pattern: /changer (?:de|votre) nom/iu },
  { name: 'exclamation', pattern: /!/u },
];

const ENGLISH_CLAIMS: readonly LintRule[] = [
  {
    name: 'health',
    pattern:
      /\b(?:illness|disease|cures?|cured|heal(?:s|ed|ing)?|depress\w*|pregnan\w*|therap\w*|diagnos\w*)\b/iu,
  },
  { name: 'money or law', pattern: /\b(?:invest\w*|lottery|inheritance|fortune|lawsuit)\b/iu },
  { name: 'death', pattern: /\b(?:death|die|dies|dying|lifespan|longevity)\b/iu },
  { name: 'promise', pattern: /\byou will (?:meet|find|receive|become|win|be)\b/iu },
  {
    name: 'religion or origin',
    pattern: /\b(?:god|karma|past li(?:fe|ves)|religio\w*|ethnic\w*|race)\b/iu,
  },
  { name: 'jargon', pattern: /\b(?:energ(?:y|ies|etic)|vibrat\w*|universe|chakra\w*)\b/iu },
  { name: 'change of name', pattern: /change your name/iu },
  { name: 'exclamation', pattern: /!/u },
];

/** Imprimerie nationale, with a full no-break space before the colon and inside « ». */
const FRENCH_TYPOGRAPHY: readonly LintRule[] = [
  { name: 'space before ; ? !', pattern: /[^\u202F][;!?]/u },
  { name: 'space before :', pattern: /[^\u00A0]:/u },
  { name: 'space inside « »', pattern: /«[^\u00A0]|[^\u00A0]»/u },
  { name: 'straight quote or three points', pattern: /['"]|\.\.\./u },
  { name: 'œ', pattern: /\b(?:coeur|oeuvre|soeur|oeil)/iu },
  { name: 'double space', pattern: / {2}/u },
];

/** Chicago: curly quotes, no space before punctuation, a comma or period inside the closing quote. */
const ENGLISH_TYPOGRAPHY: readonly LintRule[] = [
  { name: 'space before punctuation', pattern: /\s[:;!?,.]/u },
  { name: 'foreign or straight quote, three points', pattern: /['"«»]|\.\.\.|\u202F/u },
  { name: 'punctuation outside the quote', pattern: /”[,.]/u },
  { name: 'double space', pattern: / {2}/u },
];

/**
 * Places where a French sentence agrees with its reader: after a verb of state, after « vous » as an object, and the
 * short forms that stand for two genders.
 */
const FRENCH_AGREEMENT: readonly LintRule[] = [
  {
    name: 'agreement after a verb of state',
    pattern:
      /(?<!\p{L})(?:êtes|serez|étiez|restez|semblez|devenez|vous (?:sentez|montrez))\s+(?:\S+ment\s+|si\s+|trop\s+|très\s+|plus\s+)?(?:seul|(?!présent|souvent)\S+(?:é|i|u|is|if|eux|eur|ain|ant|ent))(?![\p{L}])/u,
  },
  {
    name: 'agreement with « vous » as an object',
    pattern:
      /\bvous\s(?:a|ont|avait|avaient|aura)\s+(?:\S+ment\s+)?(?!dit(?!\p{L}))\S+(?:é|i|u|is|it)(?![\p{L}’])/u,
  },
  {
    name: 'agreement of « vous rend »',
    pattern: /\bvous (?:rend|rendent)\s+\S+(?:é|i|u|if|eux|ain|ent)(?![\p{L}])/u,
  },
  { name: 'two genders in one word', pattern: /\(e\)|·|\/e\b|\p{L}\.e\b/u },
];

const FRENCH_PURITY: readonly LintRule[] = [{ name: 'English', pattern: /\b(?:the|and|your|with|you)\b/iu }];
const ENGLISH_PURITY: readonly LintRule[] = [
  { name: 'French', pattern: /\b(?:vous|votre|est|les|une|dans)\b|(?<!caf)[éèêàç]/iu },
];

/** Every rule of a language, for texts as they are printed (after the typographer). */
export const LINT_RULES: Readonly<Record<Locale, readonly LintRule[]>> = {
  'fr-FR': [...FRENCH_CLAIMS, ...FRENCH_TYPOGRAPHY, ...FRENCH_AGREEMENT, ...FRENCH_PURITY],
  'en-US': [...ENGLISH_CLAIMS, ...ENGLISH_TYPOGRAPHY, ...ENGLISH_PURITY],
};

/** The names of the rules a text breaks. */
export const brokenRules = (locale: Locale, text: string): string[] =>
  LINT_RULES[locale].filter(({ pattern }) => pattern.test(text)).map(({ name }) => name);

const isMessage = (value: object): value is Message => 'feminine' in value && 'neutral' in value;

/** Every text of a catalog with its path, e.g. `life-path.4.cost`; the one for the young is `life-path.4.cost.young`. */
export const messagesOf = (value: unknown, path = ''): [path: string, forms: Forms][] => {
  if (typeof value !== 'object' || value === null) return [];
  if (isMessage(value))
    return [[path, value], ...(value.young ? messagesOf(value.young, `${path}.young`) : [])];
  return Object.entries(value).flatMap(([key, child]) => messagesOf(child, path ? `${path}.${key}` : key));
};

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Forms of one message: a neutral form that keeps a word which only agreed in another form is no rewriting. */
const genderFaults = (path: string, { feminine, masculine, neutral }: Forms): LintFault[] => {
  if (feminine === masculine) return [];
  const kept = new Set(wordsOf(neutral));
  const other = [wordsOf(feminine), wordsOf(masculine)];
  const agreeing = [
    ...(other[0] ?? []).filter((word) => !other[1]?.includes(word)),
    ...(other[1] ?? []).filter((word) => !other[0]?.includes(word)),
  ].filter((word) => !/^(?:la|le)$/i.test(word));
  const rule = 'neutral form keeps an agreeing word';
  return agreeing.some((word) => kept.has(word)) ? [{ path, rule, text: neutral }] : [];
};

/** What is wrong with the prose of a language, in the order of its files; empty if nothing is. */
export const lintCatalog = (locale: Locale, catalog: Catalog): LintFault[] =>
  messagesOf(catalog).flatMap(([path, message]) => {
    const gendered = message.feminine !== message.masculine;
    const broken = [...new Set([message.feminine, message.masculine, message.neutral])].flatMap((text) =>
      brokenRules(locale, text)
        // A whole sentence for each gender may agree.
        .filter((rule) => !(gendered && text !== message.neutral && rule.startsWith('agreement')))
        .map((rule) => ({ path, rule, text })),
    );
    return [...broken, ...genderFaults(path, message)];
  });
