import type { Composer } from '../composer.js';
import type { Callout, NumberCard, Paragraph } from '../document.js';
import { numberRef, paragraph } from '../nodes.js';

/** The numbers whose text starts with a card, in document order. */
const CARDED = ['lifePath', 'expression', 'soulUrge', 'personality'] as const;

export type CardedKey = (typeof CARDED)[number];

const KEYWORDS_APART = ', ';

/** The card before the text of one number; empty when the name does not give the number. */
export const numberCard = ({ result, plain }: Composer, sectionId: string, key: CardedKey): NumberCard[] => {
  const { value, display, chain } = result.numbers[key];
  if (value === null) return [];
  const label = `labels ${value}.${key}`;
  return [
    {
      type: 'numberCard',
      id: `${sectionId}.card`,
      ref: `numbers.${key}`,
      label: plain(`frames/terms ${key}`),
      value: display,
      archetype: plain(`${label}.archetype`),
      keywords: plain(`${label}.keywords`).split(KEYWORDS_APART),
      chain,
    },
  ];
};

/** What it does to a number to stand at this position too; empty when it stands here first. */
export const numberAgain = (
  { result, say, position }: Composer,
  sectionId: string,
  key: CardedKey,
): Paragraph[] => {
  const { value } = result.numbers[key];
  if (value === null) return [];
  const holders = CARDED.slice(0, CARDED.indexOf(key)).filter(
    (other) => result.numbers[other].value === value,
  );
  const [earlier] = holders;
  if (earlier === undefined) return [];
  const again = (text: string, values = {}) => [
    paragraph(`${sectionId}.again`, say(`again ${value}.${text}`, values)),
  ];
  if (holders.length === 3) return again('fourth');
  if (holders.length === 2) return again('third');
  return again(key, key === 'expression' ? {} : { earlier: position(earlier) });
};

/** The karmic debt of a number: the weightiest debt of a reading in full where it stands first, else what it does here. */
export const debtCallout = (
  { result, say, plain }: Composer,
  sectionId: string,
  key: CardedKey | 'birthday',
): Callout[] =>
  result.karmicDebts.flatMap(({ debt, at }, index) => {
    if (at !== `numbers.${key}`) return [];
    const id = `${sectionId}.debt`;
    const title = plain('frames/path debtTitle', { debt: String(debt) });
    const told =
      index === 0
        ? paragraph(`${id}.text`, say(`debts ${debt}.text`))
        : paragraph(`${id}.here`, say(`debts ${debt}.${key}`));
    return [{ type: 'callout', id, variant: 'key', title, children: [told] }];
  });

export const rootRef = (root: number) => numberRef(`synthesis.weights.${root}`, String(root));
