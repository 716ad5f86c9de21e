import { type Composer, entryFor, type NumberKey } from '../composer.js';
import type { Callout, NumberCard } from '../document.js';
import { callout } from '../nodes.js';

/** The card that opens the text of one number. A number that the name does not give has no card. */
export const numberCard = (
  { result, catalog, plain }: Composer,
  sectionId: string,
  key: NumberKey,
): NumberCard[] => {
  const { value, display, chain } = result.numbers[key];
  if (value === null) return [];
  const { archetype, keywords } = entryFor(catalog.numbers, value);
  return [
    {
      type: 'numberCard',
      id: `${sectionId}.card`,
      ref: `numbers.${key}`,
      label: plain(catalog.terms[key]),
      value: display,
      archetype: plain(archetype),
      keywords: keywords.map((keyword) => plain(keyword)),
      chain,
    },
  ];
};

/** The karmic debt of a number, unless an earlier number of the document carried the same and it was told there. */
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
