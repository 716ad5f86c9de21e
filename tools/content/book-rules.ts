import type { AgeBand } from '#publishing/content/book/shape.js';
import type { Locale } from '#publishing/document/document.js';
import type { LintRule } from './lint.js';

/** Further claims that no text makes or hints at. */
const FRENCH_CLAIMS: readonly LintRule[] = [
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
    name: 'body',
    pattern:
      /(?<!\p{L})(?:migraine|fièvre|blessures?|hôpital|médecin|docteur|santé|guéri\p{L}*|douleurs?|malad(?:i\p{L}+|es?)|anxi\p{L}*|angoiss\p{L}*|nausées?|saign\p{L}*|chirurg\p{L}*|cicatri\p{L}*)(?!\p{L})/iu,
  },
  {
    name: 'drink, drugs and gambling',
    pattern: /(?<!\p{L})(?:alcool\p{L}*|ivre(?:sse|s)?|cigarettes?|drogu\p{L}*|casinos?|loto)(?!\p{L})/iu,
  },
  {
    name: 'money to place',
    pattern:
      /(?<!\p{L})(?:(?:l’|votre |une |d’)épargne|bourse|actions en|rentier|dettes? d’argent|crédit|rembours\p{L}*|patrimoine)(?!\p{L})/iu,
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
    name: 'end of life',
    pattern:
      /(?<!\p{L})(?:dernier souffle|tombe(?:au|s)?(?= |,|\.)(?<=tombeau|tombes)|veu[fv]\p{L}*|enterr\p{L}*|cimetière|fin de vie|testament|orphelin\p{L}*|héritiers?)/iu,
  },
];

const ENGLISH_CLAIMS: readonly LintRule[] = [
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
    name: 'body',
    pattern:
      /\b(?:headache|migraine|fever|wound(?:s|ed)?|hospital|doctor|nurse|health\w*|sick\w*|ill|ache[sd]?|aching|pain(?:s|ful)?|anxi(?:ous|ety)\w*|nause\w*|dizz\w*|bleed\w*|surge(?:ry|on)\w*|injur\w*)\b/iu,
  },
  {
    name: 'drink, drugs and gambling',
    pattern: /\b(?:alcohol\w*|drunk\w*|cigarettes?|drugs?|gambl\w*|casinos?)\b/iu,
  },
  {
    name: 'money to place',
    pattern: /\b(?:savings|stock market|stocks|mortgage|portfolio|credit card|pension fund|nest egg)\b/iu,
  },
  {
    name: 'fidelity',
    pattern:
      /\b(?:unfaithful\w*|infidelit\w*|adulter\w*|love affair|having an affair|cheat(?:s|ed|ing)?|divorc\w*)\b/iu,
  },
  { name: 'fertility', pattern: /\b(?:fertil\w*|pregnan\w*|conceiv\w* a child|childless|barren)\b/iu },
  {
    name: 'end of life',
    pattern:
      /\b(?:last breath|graves?|graveyard|funeral\w*|widow\w*|buried|bury|orphan\w*|tombstone|obituar\w*|late husband|late wife|deathbed|cemeter\w*|heirs?)\b/iu,
  },
];

/** French with an English skeleton, or words the reader does not know; each finding of a reading adds one. */
const FRENCH_BORROWED: readonly LintRule[] = [
  {
    name: 'borrowed or obscure',
    pattern:
      /(?<!\p{L})(?:quantième|(?:première|dernière) levée|fai(?:t|re) (?:du )?sens|adresser (?:un|le|ce) (?:problème|sujet)|en charge de|au final|définitivement|opportunités?|impacter|basée? sur|réalisez que|prendre le meilleur|à la fin du jour|votre chemin est de|délivrer|initier une?|versatile|consistant\p{L}*|supportif|challenge[sr]?|feedback|deadline|mindset|coach\p{L}*|cheminement|lâcher[- ]prise|bienveillance|résilien\p{L}*|alignée?s?|authentique)(?!\p{L})/iu,
  },
];

const ENGLISH_BORROWED: readonly LintRule[] = [
  {
    name: 'borrowed or nobody would say',
    pattern:
      /\b(?:building sites?|is your slope|fellow traveler|borrowed coat|takes? the word|in the measure where|at the bottom of yourself|of which one|one does not\b|it is a question of|the price to pay|make[s]? the (?:round|tour) of|the hour of the|put[s]? in order of|profit from|the terrain|the pact|savor\w* the instant|permits? (?:you )?to|in revenge|for the rest,|ask[s]? itself|a certain taste (?:of|for)|the taste of (?:effort|risk|beginnings)|on the contrary of|without doubt,|amplitude|constancy|prudence|largesse|resonat\w+|journey|authentic\w*|alignment|empower\w*|embrace[sd]? your|navigat(?:e|ing) (?:your|life)|tapestry|testament to|delve)\b/iu,
  },
];

/** What is filled in may be an 8 or an 11, so a text writes "the {number}" or does without an article. */
const ENGLISH_ARTICLES: readonly LintRule[] = [
  { name: 'an article before what is filled in', pattern: /\ban?\s\{\w+\}/iu },
];

export const BOOK_RULES: Readonly<Record<Locale, readonly LintRule[]>> = {
  'fr-FR': [...FRENCH_CLAIMS, ...FRENCH_BORROWED],
  'en-US': [...ENGLISH_CLAIMS, ...ENGLISH_BORROWED, ...ENGLISH_ARTICLES],
};

/** What no text puts near a child under seven: what cuts, burns, is swallowed, pulls under, or is out in traffic. */
export const UNSAFE: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})(?:couteaux?|ciseaux|allumettes?|briquets?|(?:souffler|allumer) une bougie|rasoir|épingles?|billes?|aimants?|pile plate|noix|noisettes?|cacahu\p{L}+|pop-?corn|miel|médicaments?|lessive|sacs? en plastique|galets|haricots? sur|lentilles sur|(?:jeux?|port|pinceaux?|canards?) dans (?:la baignoire|le bain)|seule? (?:dans|au) (?:la baignoire|bain)|(?:baignoire|piscine|tuyau)[^.]*?(?:près de vous|à côté de vous|non loin)|vous tournez la tête|apprendre à nager|étang|(?:dans|sur) la route)(?!\p{L})/iu,
  'en-US': /\b(?:kni(?:fe|ves)|scissors|candles?|cigarette lighter|razors?|needles?|marbles|magnets?|button batter(?:y|ies)|peanuts?|popcorn|honey|medicine|bleach|plastic bags?|rubber plant|pebbles? (?:on|around)|beans? in|paint\w* [^.]*\bin the tub|swimming|ponds?|lakes?|play\w* in the (?:road|street)|(?:play|alone) in the (?:tub|bath)|(?:laughter|reports|ducks|over the edge|heard) [^.]*\b(?:in|from|of) the (?:bath)?tub|(?:bath|tub|hose|pool|water)\b[^.]*\b(?:close by|nearby|right (?:there|behind))|you turn your head|leaves the hose)\b/iu,
}; // prettier-ignore

/** To somebody young: leaving home or giving away what they have. Both can be signs of a plan to die. */
const LEAVING: Readonly<Record<Locale, string>> = {
  'fr-FR': String.raw`(?<!pas de )tout (?:donner|quitter|laisser|plaquer)|(?:donne[rz]|quitte[rz]) tout|fugue\p{L}*|vous disparaissez \p{L}+ jours|vous partez d’un coup|des adieux que vous|donnez un objet par semaine`,
  'en-US': String.raw`giv(?:e|es|ing) (?:it all|everything|your (?:things|collections)) away|give away one object|give things away|running (?:away|off)|leave (?:home|everything|it all)|leave on \w+day with a toothbrush`,
}; // prettier-ignore

/** To somebody old: that something is over, or that little time is left. */
const ENDING: Readonly<Record<Locale, string>> = {
  'fr-FR': String.raw`n’avez plus rien à(?! prouver)|ce qui vous reste à|il (?:vous )?reste peu|tant qu’il est temps|avant qu’il (?:ne )?soit trop tard|quand vous ne serez plus`,
  'en-US': String.raw`nothing left to|something you \w+ well is over|is over already|while you (?:still )?can(?! still)|before it’s too late|(?:time|years) (?:you have )?left(?! you)|when you(?:’re| are) gone|their own roofs by this time`,
}; // prettier-ignore

const wholeWords = (...words: readonly string[]): RegExp =>
  new RegExp(String.raw`(?<!\p{L})(?:${words.join('|')})(?!\p{L})`, 'iu');

/** What the text that a reader of an age gets neither says nor asks for. */
export const UNFIT: Readonly<Record<Locale, Readonly<Record<AgeBand, RegExp>>>> = {
  'fr-FR': {
    '7-15': wholeWords(LEAVING['fr-FR'], 'faute exprès'),
    '16-29': wholeWords(LEAVING['fr-FR']),
    '60-79': wholeWords(ENDING['fr-FR']),
    '80+': wholeWords(ENDING['fr-FR']),
  },
  'en-US': {
    '7-15': wholeWords(LEAVING['en-US'], '(?:mistake|error)(?: in it)? on purpose'),
    '16-29': wholeWords(LEAVING['en-US']),
    '60-79': wholeWords(ENDING['en-US']),
    '80+': wholeWords(ENDING['en-US'], 'while you can see the faces'),
  },
};

/** Scenes that ring false at an age; the text that a reader of the band gets may hold none of them. */
export const FALSE_SCENES: Readonly<Record<Locale, Readonly<Partial<Record<AgeBand, RegExp>>>>> = {
  'fr-FR': {
    '7-15': /(?<!\p{L})(?:réunions?|collègues?|salaires?|patronn?e?s?|clients?|clientes?|conjointe?s?|vie de couple|en couple|loyer|vos enfants|petits-enfants|bureau(?! de l’école)|chefs? de service|embauch\p{L}*|carrières?|retraite|promotion|employeurs?|impôts?|factures?|votre métier)(?!\p{L})/iu,
    '16-29': /(?<!\p{L})(?:vos enfants|petits-enfants|à la retraite|vos années de carrière)(?!\p{L})/iu,
    '60-79': /(?<!\p{L})(?:votre maîtresse|vos professeurs|vos parents vous|premier emploi)(?!\p{L})/iu,
    '80+': /(?<!\p{L})(?:patronn?e?s?|promotion|réunions? de (?:service|travail|chantier)|collègues?|salaires?|employeurs?|embauch\p{L}*|votre carrière|déménage(?:r|z))(?!\p{L})/iu,
  },
  'en-US': {
    '7-15': /\b(?:meetings?|co-?workers?|colleagues?|salar(?:y|ies)|boss(?:es)?|clients?|customers?|spouses?|partner’s|marriage|your (?:kids|children)|grandchild(?:ren)?|the office|job interview|careers?|retire\w*|promotion|employers?|tax(?:es)?|your (?:job|trade)|the rent|spreadsheets?|balance sheets?|do business|profitable)\b/iu,
    '16-29': /\b(?:your (?:kids|children)|grandchild(?:ren)?|retire(?:d|ment)|your long career)\b/iu,
    '60-79': /\b(?:your teachers?|first job|your parents (?:want|expect|ask))\b/iu,
    '80+': /\b(?:boss(?:es)?|promotion|co-?workers?|colleagues?|salar(?:y|ies)|employers?|job interview|your career|deadlines?|spreadsheets?|balance sheets?|do business|profitable|clients?|customers?|rivals?)\b/iu,
  },
}; // prettier-ignore

/** A comparison with an earlier time, false in the first stage of a life. */
export const EARLIER: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})(?:(?:qu’|comme )avant|que par le passé|auparavant|autrefois|jadis|naguère|jusqu’ici)(?![\p{L}’])/iu,
  'en-US': /\b(?:(?:than|like|as) before|no longer|anymore|until now|used to (?:be|do|have)|back then)\b/iu,
}; // prettier-ignore

/** "Not X but Y" and its kin: at most one a page. */
export const CONTRASTS: Readonly<Record<Locale, readonly RegExp[]>> = {
  'fr-FR': [
    /(?<!\p{L})(?:pas|non|point)(?: pas)? [^.;:!?…]{1,60}?,? mais(?!\p{L})/giu,
    /(?:ce|il) n’est pas [^.;:!?…]{1,70}[,\u202F;. ]+(?:c’est|il s’agit)/giu,
    /(?<!\p{L})il ne s’agit pas /giu,
  ],
  'en-US': [
    /\bnot [^.;:!?…]{1,60}?,? but\b/giu,
    /\b(?:isn’t|is not|it’s not|aren’t|are not)[^.;:!?…]{1,70}[,;.] (?:it’s|it is|they’re|they are)\b/giu,
  ],
};

/** The noun of an image: « comme une lampe », "like a lamp", "the way a cat does". */
export const SIMILES: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})(?:comme |ainsi qu(?:e |’)|tel(?:le)?s? (?:que |qu’)?|pareille?s? à )(?:d’)?(?:(?:une?|le|la|les|des|ces|cette|ce) |l’)(?:petite?s? |vieil(?:le)?s? |vieux |bon(?:ne)?s? |grand(?:e)?s? )?(\p{L}{3,})/giu,
  'en-US': /\b(?:like|the way|as if) (?:an?|the|some|that|those) (?:old |small |good |big |little )?(\p{L}{3,})/giu,
}; // prettier-ignore
