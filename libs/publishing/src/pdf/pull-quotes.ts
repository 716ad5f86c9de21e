import type { Inline, Locale, Paragraph, Section } from '../document/document.js';

/** Paragraphs in a row with more characters than this make a grey page. */
const GREY = 1_400;
/** Characters of a pull quote: two or three lines. */
const SHORTEST = 48;
const LONGEST = 105;

/** How a sentence begins that stands without the one before it. */
const STANDS_ALONE: Readonly<Record<Locale, RegExp>> = {
  'en-US': /^(?:You|Your|You’re|You’ve|You’ll)\b/,
  'fr-FR': /^(?:Vous|Votre|Vos)\b/,
};

/** Words that point back to another sentence, or make of it an advice or a tale that needs the others. */
const POINTS_BACK: Readonly<Record<Locale, RegExp>> = {
  'en-US':
    /\b(?:it|its|they|them|their|this|that|these|those|then|there|one|ones|too|also|still|so|such|do|did|does|him|her|he|she|his|anyway|instead|either|just|though|could|may|weren’t|wasn’t|didn’t|by now|by the way)\b|^You (?:were|had|ate|used)\b/i,
  'fr-FR': new RegExp(
    [
      String.raw`(?<!\p{L})(?:il|ils|elle|elles|lui|leur|ce|cet|cette|ces|cela|ça|celui|celle|ceux|celles|lequel|laquelle|lesquels|lesquelles|en|y|alors|aussi|ainsi|puis|là|encore|pourtant|donc|plutôt|maintenant|désormais|davantage|pouvez|peut-être|les deux|au même|la même|les mêmes|au contraire|l’affaire|vous vous)(?!\p{L})`,
      String.raw`(?<!\p{L})(?:où|de|à|pour) les? \p{L}+(?:er|ir|re)(?!\p{L})`,
      String.raw`^Vous(?:,| (?:le|la|les|l’))`,
      // A tale: what the reader did or will do.
      String.raw`^Vous (?:(?:avez|aviez|êtes) \p{L}{3,}(?:é|i|u|is|it)|\p{L}+rez)(?!\p{L})`,
      // Of somebody else.
      String.raw`^(?:Votre|Vos) (?:voisine?s?|compagnons|amis|proches|entourage|enfant)(?!\p{L})`,
    ].join('|'),
    'iu',
  ),
};

/** Letters between a quote and its sentence, at least: three lines. An echo that follows at once looks like a slip. */
const APART = 200;

const sentencesIn = (nodes: readonly Inline[]): string[] => {
  // Only sentences without numbers and emphasis: the quote repeats plain words.
  const [only, ...others] = nodes;
  if (only?.type !== 'text' || others.length > 0) return [];
  return only.value.split(/(?<=[.!?…])\s+(?=\p{Lu})/u);
};

const isQuotable = (locale: Locale, sentence: string): boolean =>
  sentence.length >= SHORTEST &&
  sentence.length <= LONGEST &&
  sentence.endsWith('.') &&
  !/[\d:;()«»“”—–]/u.test(sentence) &&
  STANDS_ALONE[locale].test(sentence) &&
  !POINTS_BACK[locale].test(sentence);

/**
 * The sentence that breaks up a grey page of this section, and the index of the child after which it stands. It comes
 * from further on, so that the eye meets it first large, then in its place. Undefined when the section has other things
 * to look at, or no sentence that stands alone.
 */
export const pullQuoteIn = (
  locale: Locale,
  { id, children }: Section,
): { readonly sentence: string; readonly after: number } | undefined => {
  // Twelve months are no grey page: each begins with its name.
  if (id === 'year.months') return undefined;
  const bodies = children.map((child) =>
    child.type === 'paragraph' && (child.variant ?? 'body') === 'body' ? child : null,
  );
  const first = bodies.findIndex((each) => each !== null);
  if (first < 0) return undefined;
  const end = bodies.findIndex((each, index) => index > first && each === null);
  const row = bodies.slice(first, end < 0 ? undefined : end) as Paragraph[];
  const length = row.reduce((sum, each) => sum + JSON.stringify(each.children).length, 0);
  if (length < GREY) return undefined;
  for (let index = 1; index < row.length; index += 1) {
    let before = 0;
    for (const sentence of sentencesIn(row[index]!.children)) {
      // From the start of a paragraph, the quote moves up by one.
      const after = index - (before < APART ? 2 : 1);
      if (after >= 0 && isQuotable(locale, sentence)) return { sentence, after: first + after };
      before += sentence.length;
    }
  }
  return undefined;
};
