import type { Forms } from '#publishing/content/message.js';
import type { Locale } from '#publishing/document/document.js';

/** Patterns that no text of a language may match, by the reason. */
type LintRules = Readonly<Record<string, RegExp>>;

/** What no text claims or hints at, and French with an English skeleton or words that the reader does not know. */
const FRENCH_CLAIMS: LintRules = {
  health:
    /(?<!\p{L})(?:maladies?|malades?|guéri|dépress|grossesse|enceinte|symptôme|thérap|diagnosti|médicament|remèdes?(?!\p{L})|cancer|burn-?out)|(?<!\p{L})(?:migraine|fièvre|blessures?|hôpital|médecin|docteur|santé|guéri\p{L}*|douleurs?|malad(?:i\p{L}+|es?)|anxi\p{L}*|angoiss\p{L}*|nausées?|saign\p{L}*|chirurg\p{L}*|cicatri\p{L}*)(?!\p{L})/iu,
  'money or law':
    /(?<!\p{L})(?:investi\p{L}*|loterie|héritage|hériter\p{L}*|fortune|procès|placement|emprunt|notaire|tribunal)(?!\p{L})|(?<!\p{L})(?:(?:l’|votre |une |d’)épargne|bourse|actions en|rentier|dettes? d’argent|crédit|rembours\p{L}*|patrimoine)(?!\p{L})/iu,
  death:
    /\b(?:mort|mourir|mourrez|décès|longévité|deuil|défunts?|cercueil|espérance de vie)(?!\p{L})|(?<!\p{L})(?:dernier souffle|tombe(?:au|s)?(?= |,|\.)(?<=tombeau|tombes)|veu[fv]\p{L}*|enterr\p{L}*|cimetière|fin de vie|testament|orphelin\p{L}*|héritiers?)/iu,
  promise:
    /vous (?:rencontrerez|trouverez|recevrez|deviendrez|gagnerez|serez|aurez|obtiendrez|réussirez|connaîtrez|vivrez|épouserez)|(?:en|dès|avant|d’ici) 20\d\d[^.]*\p{L}rez(?!\p{L})/iu,
  'what others intend': /vous (?:trompe|trahi|manipul|jalouse)\p{L}*|vos ennemis|jalou(?:x|ses?) de vous/iu,
  'religion or origin':
    /\b(?:dieu|karma|vies? (?:antérieures?|passées?)|religion\w*|prières?|anges?|âme sœur|ethnie|race)\b/iu,
  jargon: /(?<!\p{L})(?:énergies?|énergétique|vibr\w*|univers|chakra\w*)(?!\p{L})/iu,
  'change of name': /changer (?:de|votre) nom/iu,
  exclamation: /!/u,
  sleep:
    /(?<!\p{L})(?:sommeil|insomni\p{L}*|dor(?:t|s|mir|mez|mi|ment)|(?:r?en)dor\p{L}+|somnol\p{L}*)(?!\p{L})/iu,
  tiredness:
    /(?<!\p{L})(?:fatig\p{L}*|lassitude|épuis\p{L}*|éreint\p{L}*|harass\p{L}*|à bout de (?:forces|souffle)|surmen\p{L}*)/iu,
  'drink, drugs and gambling':
    /(?<!\p{L})(?:alcool\p{L}*|ivre(?:sse|s)?|cigarettes?|drogu\p{L}*|casinos?|loto)(?!\p{L})/iu,
  fidelity:
    /(?<!\p{L})(?:infidèl\p{L}*|infidélit\p{L}*|adultère|amants?|liaison amoureuse|fidélité|divorc\p{L}*)(?!\p{L})/iu,
  fertility: /(?<!\p{L})(?:fertil\p{L}*|stéril\p{L}*|enceinte|accouch\p{L}*|grossesse)(?!\p{L})/iu,
  'borrowed or obscure':
    /(?<!\p{L})(?:quantième|(?:première|dernière) levée|fai(?:t|re) (?:du )?sens|adresser (?:un|le|ce) (?:problème|sujet)|en charge de|au final|définitivement|opportunités?|impacter|basée? sur|réalisez que|prendre le meilleur|à la fin du jour|votre chemin est de|délivrer|initier une?|versatile|consistant\p{L}*|supportif|challenge[sr]?|feedback|deadline|mindset|coach\p{L}*|cheminement|lâcher[- ]prise|bienveillance|résilien\p{L}*|alignée?s?|authentique)(?!\p{L})/iu,
};

/** The same; and what is filled in may be an 8 or an 11, so a text writes "the {number}" or does without an article. */
const ENGLISH_CLAIMS: LintRules = {
  health:
    /\b(?:illness|disease|cures?|cured|heal(?:s|ed|ing)?|depress\w*|pregnan\w*|therap\w*|diagnos\w*|medication|remed(?:y|ies)|cancer|burnout)\b|\b(?:headache|migraine|fever|wound(?:s|ed)?|hospital|doctor|nurse|health\w*|sick\w*|ill|ache[sd]?|aching|pain(?:s|ful)?|anxi(?:ous|ety)\w*|nause\w*|dizz\w*|bleed\w*|surge(?:ry|on)\w*|injur\w*)\b/iu,
  'money or law':
    /\b(?:invest(?:s|ed|ing|ments?|ors?)?|lottery|inherit\w*|fortune|lawsuit|loan|attorney|in court)\b|\b(?:savings|stock market|stocks|mortgage|portfolio|credit card|pension fund|nest egg)\b/iu,
  death:
    /\b(?:death|dead|die|dies|dying|lifespan|longevity|life expectancy|coffin|mourn\w*)\b|\b(?:last breath|graves?|graveyard|funeral\w*|widow\w*|buried|bury|orphan\w*|tombstone|obituar\w*|late husband|late wife|deathbed|cemeter\w*|heirs?)\b/iu,
  promise:
    /\byou(?: will|’ll) (?:meet|find|receive|become|win|be|get|earn|marry|achieve|discover|succeed)\b|\b(?:in|by|before) 20\d\d,? you(?: will|’ll)\b/iu,
  'what others intend':
    /\b(?:betray|cheat on|envi|manipulat|deceiv)\w*(?: of)? you\b|\bjealous of you\b|\byour enemies\b/iu,
  'religion or origin':
    /\b(?:god|karma|(?:past|former|previous) li(?:fe|ves)|religio\w*|prayers?|angels?|soul ?mates?|ethnic\w*|race)\b/iu,
  jargon: /\b(?:energ(?:y|ies|etic)|vibrat\w*|universe|chakra\w*)\b/iu,
  'change of name': /change your name/iu,
  exclamation: /!/u,
  sleep: /\b(?:sleep\w*|slept|asleep|insomnia\w*|doz(?:e|es|ing)|nap(?:s|ping)?|bedtime)\b/iu,
  tiredness:
    /\b(?:tired\w*|tiring|weary|weari(?:ness|some|ly)|fatigue\w*|exhaust\w*|worn[- ]out|drained|run[- ]down)\b/iu,
  'drink, drugs and gambling': /\b(?:alcohol\w*|drunk\w*|cigarettes?|drugs?|gambl\w*|casinos?)\b/iu,
  fidelity:
    /\b(?:unfaithful\w*|infidelit\w*|adulter\w*|love affair|having an affair|cheat(?:s|ed|ing)?|divorc\w*)\b/iu,
  fertility: /\b(?:fertil\w*|pregnan\w*|conceiv\w* a child|childless|barren)\b/iu,
  'borrowed or nobody would say':
    /\b(?:building sites?|is your slope|fellow traveler|borrowed coat|takes? the word|in the measure where|at the bottom of yourself|of which one|one does not\b|it is a question of|the price to pay|make[s]? the (?:round|tour) of|the hour of the|put[s]? in order of|profit from|the terrain|the pact|savor\w* the instant|permits? (?:you )?to|in revenge|for the rest,|ask[s]? itself|a certain taste (?:of|for)|the taste of (?:effort|risk|beginnings)|on the contrary of|without doubt,|amplitude|constancy|prudence|largesse|resonat\w+|journey|authentic\w*|alignment|empower\w*|embrace[sd]? your|navigat(?:e|ing) (?:your|life)|tapestry|testament to|delve)\b/iu,
  'an article before what is filled in': /\ban?\s\{\w+\}/iu,
};

/** Imprimerie nationale, with a full no-break space before the colon and inside « ». */
const FRENCH_TYPOGRAPHY: LintRules = {
  'space before ; ? !': /[^\u202F][;!?]/u,
  'space before :': /[^\u00A0]:/u,
  'space inside « »': /«[^\u00A0]|[^\u00A0]»/u,
  'straight quote or three points': /['"]|\.\.\./u,
  'quotes of another language': /[“”]/u,
  œ: /oe(?:u|il)/iu,
  'space after a number':
    /\d (?:ans?|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)(?!\p{L})/u,
  ordinal:
    /\d(?:ème|ième|ère)(?!\p{L})|(?<!\d)1 ?(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)/u,
  'dash without spaces': /\p{L}[–—]|[–—]\p{L}/u,
  elision: /\b(?:si ils?|(?:que|lorsque|puisque) (?:ils?|elles?|on|une?)|jusque (?:à|au))(?!\p{L})/iu,

  // A Y is a vowel before a consonant: d'Yvonne, but de Yann.
  'elision before a name':
    /(?<!\p{L})(?:[Dd]e|[Qq]ue|[Jj]usque|[Ll]orsque|[Pp]uisque) (?:[AÀÂEÉÈÊËIÎÏOÔŒUÛÜ]\p{L}|Y[^aeiouéè\s])/u,
  'word twice': /(?<![\p{L}-])(?!(?:vous|nous) )(\p{L}{2,}|[ày]) \1(?!\p{L})/iu,
  'double space': / {2}/u,
};

/** Chicago: curly quotes, no space before punctuation, a comma or period inside the closing quote. */
const ENGLISH_TYPOGRAPHY: LintRules = {
  'space before punctuation': /\s[:;!?,.]/u,
  'foreign or straight quote, three points': /['"«»]|\.\.\.|\u202F/u,
  'punctuation outside the quote': /”[,.]/u,
  'dash with spaces': /\s[–—]|[–—]\s/u,
  // Only for sentences: a table cell or a caption is not prose.
  'digit at the head of a sentence': /(?:^(?=.* .*[.?…]”?$)|[.?…]”? )\d/u,
  'word twice': /(?<!\p{L})(\p{L}{2,}|a) \1(?!\p{L})/iu,
  'double space': / {2}/u,
};

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
export const FRENCH_AGREEMENT: LintRules = {
  'agreement after a verb of state': agreeing(
    '(?:êtes|serez|étiez|restez|semblez|paraissez|devenez|passez pour|vous (?:sentez|montrez|croyez|savez|voulez))',
  ),
  'agreement with « vous » as an object':
    /\bvous\s(?:a|ont|avait|avaient|aura)\s+(?:\S+ment\s+)?(?!(?:dit|fallu)(?!\p{L}))\S+(?:é|i|u|is|it)(?![\p{L}’])/u,
  'agreement with « on vous croit »': agreeing(
    'vous (?:croit|croient|croyait|sait|savent|savait|dit|disent|disait|juge|jugent|trouve|trouvent|trouvait|imagine|suppose)',
  ),
  'agreement of « vous rend »': agreeing('vous (?:rend|rendent|fait|font paraître|laisse|laissent)'),
  'agreement of an infinitive': agreeing('(?:d’|à |sans (?:y )?|pour |l’air d’)être'),
  'agreement at the head of a clause': new RegExp(
    `(?:^|[.?…;:]\\s)${AGREEING}(?:\\s[^,.;:]{0,40})?,\\svous(?!\\p{L})`,
    'iu',
  ),
  'noun for the reader':
    /(?:êtes|restez|devenez|semblez|(?:fait|font) de vous)\s(?:le|la|un|une)\s(?!personne)(?:seule?|premi|derni|meilleur|\p{L}+(?:eur|euse|rice|ien|ienne|ier|ière)(?!\p{L}))/u,
  '« vous seul »': /(?<![\p{L}-])vous (?:seule?|comprise?|tout entière?|tout entier)(?!\p{L})/u,
  'two genders in one word': /\(e\)|·|\/e\b|\p{L}\.e\b/u,
};

/** « Vous » everywhere except in quoted speech. */
const FRENCH_PURITY: LintRules = {
  English: /\b(?:the|and|your|with|you)\b/iu,
  '« tu »': /(?<!«[^»]*)(?<!\p{L})(?:tu|toi|tes|t’\p{L}+)(?!\p{L})/iu,
};
const ENGLISH_PURITY: LintRules = {
  French: /\b(?:vous|votre|est|les|une|dans)\b|(?<!caf)[éèêàç]/iu,
  'British spelling':
    /\b(?:\w*(?:colou|favou|neighbou|honou|humou|behaviou|flavou|labou)r\w*|(?:cent|theat|met)re|grey|cheque|programme|travell\w+|whilst|\w+(?:[^aeio]i|al|gan)ise[ds]?)\b/iu,
};

/** Every rule of a language, for texts as they are printed (after the typographer). */
const LINT_RULES: Readonly<Record<Locale, LintRules>> = {
  'fr-FR': { ...FRENCH_CLAIMS, ...FRENCH_TYPOGRAPHY, ...FRENCH_AGREEMENT, ...FRENCH_PURITY },
  'en-US': { ...ENGLISH_CLAIMS, ...ENGLISH_TYPOGRAPHY, ...ENGLISH_PURITY },
};

/** The names of the rules a text breaks. */
export const brokenRules = (locale: Locale, text: string): string[] =>
  Object.entries(LINT_RULES[locale])
    .filter(([, pattern]) => pattern.test(text))
    .map(([name]) => name);

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
