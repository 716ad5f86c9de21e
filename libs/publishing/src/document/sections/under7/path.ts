import type { Composer } from '../../composer.js';
import type { Callout, Section } from '../../document.js';
import { callout, paragraph, section } from '../../nodes.js';
import { numberCard } from '../numbers.js';

/** The debts of a child, each once, beside the first number that has it. */
export const childDebt = ({ result, say, plain }: Composer, sectionId: string, at: string): Callout[] =>
  result.karmicDebts
    .filter((found, index, all) => {
      const isFirst = all.findIndex(({ debt }) => debt === found.debt) === index;
      return isFirst && found.at === `numbers.${at}`;
    })
    .map(({ debt }) =>
      callout(
        `${sectionId}.debt`,
        'key',
        plain('frames/path debtTitle', { debt: String(debt) }),
        say(`under7/debts ${debt}`),
      ),
    );

/** The Life Path and the birthday of a child under seven, for the parents. */
export const childPath = (composer: Composer): Section => {
  const { result, say, plain, number } = composer;
  const { lifePath, birthday } = result.numbers;
  const file = `under7/${lifePath.value}`;
  const part = (id: 'play' | 'others' | 'help'): Section =>
    section(`path.${id}`, 'subsection', plain(`frames/under7 path.${id}Title`), [
      paragraph(`path.${id}.text`, say(`${file} lifePath.${id}`)),
    ]);
  return section(
    'path',
    'path',
    plain('frames/path title'),
    [
      ...numberCard(composer, 'path', 'lifePath'),
      paragraph('path.lead', say(`${file} lifePath.lead`), 'lead'),
      paragraph('path.gift', say(`${file} lifePath.gift`)),
      paragraph('path.cost', say(`${file} lifePath.cost`)),
      ...childDebt(composer, 'path', 'lifePath'),
      part('play'),
      part('others'),
      part('help'),
      section(
        'path.day',
        'subsection',
        plain('frames/path dayTitle'),
        [
          paragraph(
            'path.day.intro',
            say('frames/path dayIntro', { day: String(birthday.day), number: number('birthday') }),
          ),
          paragraph('path.day.text', say(`under7/days ${birthday.day}`)),
          ...childDebt(composer, 'path.day', 'birthday'),
        ],
        ['numbers.birthday'],
      ),
    ],
    ['numbers.lifePath'],
  );
};
