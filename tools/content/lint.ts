import type { Forms } from '#publishing/content/message.js';
import type { Locale } from '#publishing/document/document.js';

/** A pattern that no text of a language may match, and why. */
interface LintRule {
  readonly name: string;
  readonly pattern: RegExp;
}

/** What no text claims or hints at, and French with an English skeleton or words that the reader does not know. */
const FRENCH_CLAIMS: readonly LintRule[] = [
  {
    name: 'health',
    pattern:
      /(?<!\p{L})(?:maladies?|malades?|guéri|dépress|grossesse|enceinte|symptôme|thérap|diagnosti|médicament|remèdes?(?!\p{L})|cancer|burn-?out)|(?<!\p{L})(?:migraine|fièvre|blessures?|hôpital|médecin|docteur|santé|guéri\p{L}*|douleurs?|malad(?:i\p{L}+|es?)|anxi\p{L}*|angoiss\p{L}*|nausées?|saign\p{L}*|chirurg\p{L}*|cicatri\p{L}*)(?!\p{L})/iu,
  },
  {
    name: 'money or law',
    pattern:
      /(?<!\p{L})(?:investi\p{L}*|loterie|héritage|hériter\p{L}*|fortune|procès|placement|emprunt|notaire|tribunal)(?!\p{L})|(?<!\p{L})(?:(?:l’|votre |une |d’)épargne|bourse|actions en|rentier|dettes? d’argent|crédit|rembours\p{L}*|patrimoine)(?!\p{L})/iu,
  },
  {
    name: 'death',
    pattern:
      /\b(?:mort|mourir|mourrez|décès|longévité|deuil|défunts?|cercueil|espérance de vie)(?!\p{L})|(?<!\p{L})(?:dernier souffle|tombe(?:au|s)?(?= |,|\.)(?<=tombeau|tombes)|veu[fv]\p{L}*|enterr\p{L}*|cimetière|fin de vie|testament|orphelin\p{L}*|héritiers?)/iu,
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
  {
    name: 'sleep',
    pattern:
      /(?<!\p{L})(?:sommeil|insomni\p{L}*|dor(?:t|s|mir|mez|mi|ment)|(?:r?en)dor\p{L}+|somnol\p{L}*)(?!\p{L})/iu,
  },
  {
    name: 'tiredness',
    pattern:
      /(?<!\p{L})(?:fatig\p{L}*|lassitude|épuis\p{L}*|éreint\p{L}*|harass\p{L}*|à bout de (?:forces|souffle)|surmen\p{L}*)/iu,
  },
  {
    name: 'drink, drugs and gambling',
    pattern: /(?<!\p{L})(?:alcool\p{L}*|ivre(?:sse|s)?|cigarettes?|drogu\p{L}*|casinos?|loto)(?!\p{L})/iu,
  },
  {
    name: 'fidelity',
    pattern:
      /(?<!\p{L})(?:infidèl\p{L}*|infidélit\p{L}*|adultère|amants?|liaison amoureuse|fidélité|divorc\p{L}*)(?!\p{L})/iu,
  },
  {
    name: 'fertility',
    pattern: /(?<!\p{L})(?:fertil\p{L}*|stéril\p{L}*|enceinte|accouch\p{L}*|grossesse)(?!\p{L})/iu,
  },
  {
    name: 'borrowed or obscure',
    pattern:
      /(?<!\p{L})(?:quantième|(?:première|dernière) levée|fai(?:t|re) (?:du )?sens|adresser (?:un|le|ce) (?:problème|sujet)|en charge de|au final|définitivement|opportunités?|impacter|basée? sur|réalisez que|prendre le meilleur|à la fin du jour|votre chemin est de|délivrer|initier une?|versatile|consistant\p{L}*|supportif|challenge[sr]?|feedback|deadline|mindset|coach\p{L}*|cheminement|lâcher[- ]prise|bienveillance|résilien\p{L}*|alignée?s?|authentique)(?!\p{L})/iu,
  },
];

/** The same; and what is filled in may be an 8 or an 11, so a text writes "the {number}" or does without an article. */
const ENGLISH_CLAIMS: readonly LintRule[] = [
  {
    name: 'health',
    pattern:
      /\b(?:illness|disease|cures?|cured|heal(?:s|ed|ing)?|depress\w*|pregnan\w*|therap\w*|diagnos\w*|medication|remed(?:y|ies)|cancer|burnout)\b|\b(?:headache|migraine|fever|wound(?:s|ed)?|hospital|doctor|nurse|health\w*|sick\w*|ill|ache[sd]?|aching|pain(?:s|ful)?|anxi(?:ous|ety)\w*|nause\w*|dizz\w*|bleed\w*|surge(?:ry|on)\w*|injur\w*)\b/iu,
  },
  {
    name: 'money or law',
    pattern:
      /\b(?:invest(?:s|ed|ing|ments?|ors?)?|lottery|inherit\w*|fortune|lawsuit|loan|attorney|in court)\b|\b(?:savings|stock market|stocks|mortgage|portfolio|credit card|pension fund|nest egg)\b/iu,
  },
  {
    name: 'death',
    pattern:
      /\b(?:death|dead|die|dies|dying|lifespan|longevity|life expectancy|coffin|mourn\w*)\b|\b(?:last breath|graves?|graveyard|funeral\w*|widow\w*|buried|bury|orphan\w*|tombstone|obituar\w*|late husband|late wife|deathbed|cemeter\w*|heirs?)\b/iu,
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
  {
    name: 'sleep',
    pattern: /\b(?:sleep\w*|slept|asleep|insomnia\w*|doz(?:e|es|ing)|nap(?:s|ping)?|bedtime)\b/iu,
  },
  {
    name: 'tiredness',
    pattern:
      /\b(?:tired\w*|tiring|weary|weari(?:ness|some|ly)|fatigue\w*|exhaust\w*|worn[- ]out|drained|run[- ]down)\b/iu,
  },
  {
    name: 'drink, drugs and gambling',
    pattern: /\b(?:alcohol\w*|drunk\w*|cigarettes?|drugs?|gambl\w*|casinos?)\b/iu,
  },
  {
    name: 'fidelity',
    pattern:
      /\b(?:unfaithful\w*|infidelit\w*|adulter\w*|love affair|having an affair|cheat(?:s|ed|ing)?|divorc\w*)\b/iu,
  },
  { name: 'fertility', pattern: /\b(?:fertil\w*|pregnan\w*|conceiv\w* a child|childless|barren)\b/iu },
  {
    name: 'borrowed or nobody would say',
    pattern:
      /\b(?:building sites?|is your slope|fellow traveler|borrowed coat|takes? the word|in the measure where|at the bottom of yourself|of which one|one does not\b|it is a question of|the price to pay|make[s]? the (?:round|tour) of|the hour of the|put[s]? in order of|profit from|the terrain|the pact|savor\w* the instant|permits? (?:you )?to|in revenge|for the rest,|ask[s]? itself|a certain taste (?:of|for)|the taste of (?:effort|risk|beginnings)|on the contrary of|without doubt,|amplitude|constancy|prudence|largesse|resonat\w+|journey|authentic\w*|alignment|empower\w*|embrace[sd]? your|navigat(?:e|ing) (?:your|life)|tapestry|testament to|delve)\b/iu,
  },
  { name: 'an article before what is filled in', pattern: /\ban?\s\{\w+\}/iu },
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
