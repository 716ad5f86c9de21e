import type { Forms } from '#publishing/content/message.js';
import type { Locale } from '#publishing/document/document.js';

/** A pattern that no text of a language may match, and why. */
export interface LintRule {
  readonly name: string;
  readonly pattern: RegExp;
}

const FRENCH_CLAIMS: readonly LintRule[] = [
  {
    name: 'health',
    pattern:
      /(?<!\p{L})(?:maladies?|malades?|guéri|dépress|grossesse|enceinte|symptôme|thérap|diagnosti|médicament|remèdes?(?!\p{L})|cancer|burn-?out)/iu,
  },
  {
    name: 'money or law',
    pattern:
      /(?<!\p{L})(?:investi\p{L}*|loterie|héritage|hériter\p{L}*|fortune|procès|placement|emprunt|notaire|tribunal)(?!\p{L})/iu,
  },
  {
    name: 'death',
    pattern: /\b(?:mort|mourir|mourrez|décès|longévité|deuil|défunts?|cercueil|espérance de vie)(?!\p{L})/iu,
  },
  {
    name: 'promise',
    pattern:
      /vous (?:rencontrerez|trouverez|recevrez|deviendrez|gagnerez|serez|aurez|obtiendrez|réussirez|connaîtrez|vivrez|épouserez)|(?:en|dès|avant|d’ici) 20\d\d[^.]*\p{L}rez(?!\p{L})/iu,
  },
  {
    name: 'what others intend',
    pattern: /vous (?:trompe|trahi|manipul|jalouse)\p{L}*|vos ennemis|jalou(?:x|ses?) de vous/iu,
  },
  {
    name: 'religion or origin',
    pattern:
      /\b(?:dieu|karma|vies? (?:antérieures?|passées?)|religion\w*|prières?|anges?|âme sœur|ethnie|race)\b/iu,
  },
  { name: 'jargon', pattern: /(?<!\p{L})(?:énergies?|énergétique|vibr\w*|univers|chakra\w*)(?!\p{L})/iu },
  { name: 'change of name', pattern: /changer (?:de|votre) nom/iu },
  { name: 'exclamation', pattern: /!/u },
];

const ENGLISH_CLAIMS: readonly LintRule[] = [
  {
    name: 'health',
    pattern:
      /\b(?:illness|disease|cures?|cured|heal(?:s|ed|ing)?|depress\w*|pregnan\w*|therap\w*|diagnos\w*|medication|remed(?:y|ies)|cancer|burnout)\b/iu,
  },
  {
    name: 'money or law',
    pattern:
      /\b(?:invest(?:s|ed|ing|ments?|ors?)?|lottery|inherit\w*|fortune|lawsuit|loan|attorney|in court)\b/iu,
  },
  {
    name: 'death',
    pattern: /\b(?:death|dead|die|dies|dying|lifespan|longevity|life expectancy|coffin|mourn\w*)\b/iu,
  },
  {
    name: 'promise',
    pattern:
      /\byou(?: will|’ll) (?:meet|find|receive|become|win|be|get|earn|marry|achieve|discover|succeed)\b|\b(?:in|by|before) 20\d\d,? you(?: will|’ll)\b/iu,
  },
  {
    name: 'what others intend',
    pattern:
      /\b(?:betray|cheat on|envi|manipulat|deceiv)\w*(?: of)? you\b|\bjealous of you\b|\byour enemies\b/iu,
  },
  {
    name: 'religion or origin',
    pattern:
      /\b(?:god|karma|(?:past|former|previous) li(?:fe|ves)|religio\w*|prayers?|angels?|soul ?mates?|ethnic\w*|race)\b/iu,
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
  { name: 'quotes of another language', pattern: /[“”]/u },
  { name: 'œ', pattern: /oe(?:u|il)/iu },
  {
    name: 'space after a number',
    pattern:
      /\d (?:ans?|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)(?!\p{L})/u,
  },
  {
    name: 'ordinal',
    pattern:
      /\d(?:ème|ième|ère)(?!\p{L})|(?<!\d)1 ?(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)/u,
  },
  { name: 'dash without spaces', pattern: /\p{L}[–—]|[–—]\p{L}/u },
  {
    name: 'elision',
    pattern: /\b(?:si ils?|(?:que|lorsque|puisque) (?:ils?|elles?|on|une?)|jusque (?:à|au))(?!\p{L})/iu,
  },
  {
    name: 'elision before a name',
    // A Y is a vowel before a consonant: d'Yvonne, but de Yann.
    pattern:
      /(?<!\p{L})(?:[Dd]e|[Qq]ue|[Jj]usque|[Ll]orsque|[Pp]uisque) (?:[AÀÂEÉÈÊËIÎÏOÔŒUÛÜ]\p{L}|Y[^aeiouéè\s])/u,
  },
  { name: 'word twice', pattern: /(?<![\p{L}-])(?!(?:vous|nous) )(\p{L}{2,}|[ày]) \1(?!\p{L})/iu },
  { name: 'double space', pattern: / {2}/u },
];

/** Chicago: curly quotes, no space before punctuation, a comma or period inside the closing quote. */
const ENGLISH_TYPOGRAPHY: readonly LintRule[] = [
  { name: 'space before punctuation', pattern: /\s[:;!?,.]/u },
  { name: 'foreign or straight quote, three points', pattern: /['"«»]|\.\.\.|\u202F/u },
  { name: 'punctuation outside the quote', pattern: /”[,.]/u },
  { name: 'dash with spaces', pattern: /\s[–—]|[–—]\s/u },
  // Only for sentences: a table cell or a caption is not prose.
  { name: 'digit at the head of a sentence', pattern: /(?:^(?=.* .*[.?…]”?$)|[.?…]”? )\d/u },
  { name: 'word twice', pattern: /(?<!\p{L})(\p{L}{2,}|a) \1(?!\p{L})/iu },
  { name: 'double space', pattern: / {2}/u },
];

/** An adverb or two between a verb and what agrees with its reader. */
const ADVERBS = String.raw`(?:(?:\S+ment|si|trop|très|plus|moins|assez|bien|tout|toujours|souvent|déjà|encore)\s+)*`;

/** Words that end like an adjective but are not one. */
const NOT_ADJECTIVES =
  'quant|présent|souvent|ainsi|aussi|ici|parmi|depuis|puis|jamais|parfois|maintenant|autant|avant|pourtant|devant|pendant|comment|moment|bien|qui|quoi|lui|celui|peu|rien|lundi|mardi|mercredi|jeudi|vendredi|samedi|midi';

/** Adjectives and participles that have another form in the feminine, by their endings. */
const AGREEING = String.raw`(?:seul|sûr|franc|doux|né|inquiet|complet|discret|secret|entier|fier|léger|premier|dernier|gentil|(?!(?:${NOT_ADJECTIVES}|\p{L}+ment)(?!\p{L}))\p{L}{2,}(?:é|i|u|is|it|if|eux|eur|ain|ant|ent))(?![\p{L}’-])`;

const agreeing = (before: string) => new RegExp(`(?<!\\p{L})${before}\\s+${ADVERBS}${AGREEING}`, 'iu');

/**
 * Places where a French sentence agrees with its reader: after a verb of state, after « vous » as an object, at the
 * head of a clause, after an infinitive, in a noun for the person, and the short forms that stand for two genders.
 */
export const FRENCH_AGREEMENT: readonly LintRule[] = [
  {
    name: 'agreement after a verb of state',
    pattern: agreeing(
      '(?:êtes|serez|étiez|restez|semblez|paraissez|devenez|passez pour|vous (?:sentez|montrez|croyez|savez|voulez))',
    ),
  },
  {
    name: 'agreement with « vous » as an object',
    pattern:
      /\bvous\s(?:a|ont|avait|avaient|aura)\s+(?:\S+ment\s+)?(?!(?:dit|fallu)(?!\p{L}))\S+(?:é|i|u|is|it)(?![\p{L}’])/u,
  },
  {
    name: 'agreement with « on vous croit »',
    pattern: agreeing(
      'vous (?:croit|croient|croyait|sait|savent|savait|dit|disent|disait|juge|jugent|trouve|trouvent|trouvait|imagine|suppose)',
    ),
  },
  {
    name: 'agreement of « vous rend »',
    pattern: agreeing('vous (?:rend|rendent|fait|font paraître|laisse|laissent)'),
  },
  {
    name: 'agreement of an infinitive',
    pattern: agreeing('(?:d’|à |sans (?:y )?|pour |l’air d’)être'),
  },
  {
    name: 'agreement at the head of a clause',
    pattern: new RegExp(`(?:^|[.?…;:]\\s)${AGREEING}(?:\\s[^,.;:]{0,40})?,\\svous(?!\\p{L})`, 'iu'),
  },
  {
    name: 'noun for the reader',
    pattern:
      /(?:êtes|restez|devenez|semblez|(?:fait|font) de vous)\s(?:le|la|un|une)\s(?!personne)(?:seule?|premi|derni|meilleur|\p{L}+(?:eur|euse|rice|ien|ienne|ier|ière)(?!\p{L}))/u,
  },
  {
    name: '« vous seul »',
    pattern: /(?<![\p{L}-])vous (?:seule?|comprise?|tout entière?|tout entier)(?!\p{L})/u,
  },
  { name: 'two genders in one word', pattern: /\(e\)|·|\/e\b|\p{L}\.e\b/u },
];

/** « Vous » everywhere except in quoted speech. */
const FRENCH_PURITY: readonly LintRule[] = [
  { name: 'English', pattern: /\b(?:the|and|your|with|you)\b/iu },
  { name: '« tu »', pattern: /(?<!«[^»]*)(?<!\p{L})(?:tu|toi|tes|t’\p{L}+)(?!\p{L})/iu },
];
const ENGLISH_PURITY: readonly LintRule[] = [
  { name: 'French', pattern: /\b(?:vous|votre|est|les|une|dans)\b|(?<!caf)[éèêàç]/iu },
  {
    name: 'British spelling',
    pattern:
      /\b(?:\w*(?:colou|favou|neighbou|honou|humou|behaviou|flavou|labou)r\w*|(?:cent|theat|met)re|grey|cheque|programme|travell\w+|whilst|\w+(?:[^aeio]i|al|gan)ise[ds]?)\b/iu,
  },
];

/** Every rule of a language, for texts as they are printed (after the typographer). */
const LINT_RULES: Readonly<Record<Locale, readonly LintRule[]>> = {
  'fr-FR': [...FRENCH_CLAIMS, ...FRENCH_TYPOGRAPHY, ...FRENCH_AGREEMENT, ...FRENCH_PURITY],
  'en-US': [...ENGLISH_CLAIMS, ...ENGLISH_TYPOGRAPHY, ...ENGLISH_PURITY],
};

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
