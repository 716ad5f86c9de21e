import { type Composer, entryFor, type NumberKey } from '../composer.js';
import type { Block, NumberCard, Section } from '../document.js';
import { callout, paragraph, section } from '../nodes.js';

/** The card that opens the text of one number. A number that the name does not give has no card. */
export const numberCard = ({ result, catalog, plain }: Composer, id: string, key: NumberKey): NumberCard[] => {
  const { value, display, chain } = result.numbers[key];
  if (value === null) return [];
  const { archetype, keywords } = entryFor(catalog.numbers, value);
  return [
    {
      type: 'numberCard',
      id,
      ref: `numbers.${key}`,
      label: plain(catalog.terms[key]),
      value: display,
      archetype: plain(archetype),
      keywords: keywords.map((keyword) => plain(keyword)),
      chain,
    },
  ];
};

/** A callout for each karmic debt of the reading, told once even if several numbers carry it. */
const debts = ({ result, catalog, say, plain }: Composer): Block[] =>
  [...new Set(result.karmicDebts.map(({ debt }) => debt))].map((debt) =>
    callout(
      `path.debt-${debt}`,
      'key',
      plain(catalog.frames.path.debtTitle, { debt: String(debt) }),
      say(catalog['karmic-debt'][debt]),
    ),
  );

export const path = (composer: Composer): Section => {
  const { result, catalog, say, plain, number } = composer;
  const { path: frame } = catalog.frames;
  const { lifePath, birthday } = result.numbers;
  const prose = entryFor(catalog['life-path'], lifePath.value);
  return section(
    'path',
    'path',
    plain(frame.title),
    [
      ...numberCard(composer, 'path.card', 'lifePath'),
      paragraph('path.lead', say(prose.lead), 'lead'),
      paragraph('path.drive', say(prose.drive)),
      paragraph('path.cost', say(prose.cost)),
      ...debts(composer),
      callout('path.question', 'question', plain(frame.questionTitle), say(prose.question)),
      section(
        'path.day',
        'subsection',
        plain(frame.dayTitle),
        [
          paragraph(
            'path.day.intro',
            say(frame.dayIntro, { day: String(birthday.day), number: number('birthday') }),
          ),
          paragraph('path.day.text', say(entryFor(catalog.birthday, birthday.value))),
        ],
        ['numbers.birthday'],
      ),
    ],
    ['numbers.lifePath', 'karmicDebts'],
  );
};
