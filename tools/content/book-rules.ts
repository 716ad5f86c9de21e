import type { AgeBand } from '#publishing/content/book/shape.js';
import type { Locale } from '#publishing/document/document.js';

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

/** The noun of an image: « comme une lampe », "like a lamp", "the way a cat does". */
export const SIMILES: Readonly<Record<Locale, RegExp>> = {
  'fr-FR': /(?<!\p{L})(?:comme |ainsi qu(?:e |’)|tel(?:le)?s? (?:que |qu’)?|pareille?s? à )(?:d’)?(?:(?:une?|le|la|les|des|ces|cette|ce) |l’)(?:petite?s? |vieil(?:le)?s? |vieux |bon(?:ne)?s? |grand(?:e)?s? )?(\p{L}{3,})/giu,
  'en-US': /\b(?:like|the way|as if) (?:an?|the|some|that|those) (?:old |small |good |big |little )?(\p{L}{3,})/giu,
}; // prettier-ignore
