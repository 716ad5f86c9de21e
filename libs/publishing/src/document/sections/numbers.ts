import { type Composer, entryFor, type NumberKey } from '../composer.js';
import type { Callout, NumberCard, Paragraph } from '../document.js';
import { callout, numberRef, paragraph } from '../nodes.js';

/** The numbers whose text starts with a card, in document order. */
const CARDED = ['lifePath', 'expression', 'soulUrge', 'personality'] as const;

export type CardedKey = (typeof CARDED)[number];

/** The positions with a card before this one that have the same number. */
const earlierHolders = ({ result }: Composer, key: CardedKey): CardedKey[] =>
  CARDED.slice(0, CARDED.indexOf(key)).filter(
    (other) => result.numbers[other].value === result.numbers[key].value,
  );

/**
 * The card before the text of one number; empty when the name does not give the number. When a number occurs again, its
 * second card shows its other side, later cards show only the value, and a sentence says that it returns.
 */
export const numberCard = (
  composer: Composer,
  sectionId: string,
  key: CardedKey,
): (NumberCard | Paragraph)[] => {
  const { result, catalog, plain, say } = composer;
  const { value, display, chain } = result.numbers[key];
  if (value === null) return [];
  const holders = earlierHolders(composer, key);
  const [first] = holders;
  const sides = [entryFor(catalog.numbers, value), entryFor(catalog.again.numbers, value)];
  const side = sides[holders.length];
  const card: NumberCard = {
    type: 'numberCard',
    id: `${sectionId}.card`,
    ref: `numbers.${key}`,
    label: plain(catalog.terms[key]),
    value: display,
    ...(side && {
      archetype: plain(side.archetype),
      keywords: side.keywords.map((keyword) => plain(keyword)),
    }),
    chain,
  };
  if (first === undefined) return [card];
  const { link } = catalog.again;
  const number = numberRef(`numbers.${key}`, String(value));
  const pairs = CARDED.slice(0, CARDED.indexOf(key)).filter(
    (other) => result.numbers[other].value !== null && earlierHolders(composer, other).length === 1,
  );
  const sentence =
    holders.length === 1
      ? say(pairs.length === 0 ? link.second : link.secondMore, {
          number,
          earlier: plain(catalog.synthesis.positions[first]),
        })
      : say(holders.length === 2 ? link.third : link.fourth, { number });
  return [card, paragraph(`${sectionId}.again`, sentence)];
};

/** The karmic debt of a number; omitted when an earlier number of the document has the same debt. */
export const debtCallout = (
  { result, catalog, say, plain }: Composer,
  sectionId: string,
  key: NumberKey,
): Callout[] =>
  result.karmicDebts
    .filter(({ debt, at }, index, all) => {
      const isFirst = all.findIndex((other) => other.debt === debt) === index;
      return isFirst && at === `numbers.${key}`;
    })
    .map(({ debt }) =>
      callout(
        `${sectionId}.debt`,
        'key',
        plain(catalog.frames.debtTitle, { debt: String(debt) }),
        say(catalog['karmic-debt'][debt]),
      ),
    );
