import type { Composer } from '../composer.js';
import type { Paragraph, Section } from '../document.js';
import { callout, section } from '../nodes.js';
import { debtCallout, numberCard } from './name.js';

/** The total of the Life Path before its last reduction; empty for a single digit. */
const total = ({ result, book, tell }: Composer): Paragraph[] => {
  const { chain, value } = result.numbers.lifePath;
  const key = `compounds ${chain.at(-2) ?? value}`;
  return book.has(key) ? [tell('path.total', key)] : [];
};

const day = (composer: Composer): Section => {
  const { result, forParents, tell, part, number } = composer;
  const { day: ofMonth } = result.numbers.birthday;
  const values = { day: String(ofMonth), number: number('birthday') };
  return part(
    'path.day',
    'frames/path dayTitle',
    [
      tell('path.day.intro', 'frames/path dayIntro', values),
      tell('path.day.text', `${forParents ? 'under7/days' : 'birthday'} ${ofMonth}`),
      ...debtCallout(composer, 'path.day', 'birthday'),
    ],
    ['numbers.birthday'],
  );
};

/** The Life Path and the birthday; of a child under seven other parts, for the parents. */
export const path = (composer: Composer): Section => {
  const { result, forParents, say, plain, tell, part } = composer;
  const { lifePath, expression } = result.numbers;
  const own = forParents ? `under7/${lifePath.value} lifePath.` : `life-path/${lifePath.value} `;
  const titled = (id: string, key = `${own}${id}`): Section =>
    part(`path.${id}`, `frames/path ${id}Title`, [tell(`path.${id}.text`, key)]);
  const drive = forParents ? 'gift' : 'drive';
  const parts = forParents
    ? ['play', 'others', 'help'].map((id) => titled(id))
    : [
        titled('colour', `life-path-colour/${lifePath.value} ${expression.root}`),
        ...['others', 'work', 'time', 'help'].map((id) => titled(id)),
        callout('path.question', 'question', plain('frames/path questionTitle'), say(`${own}question`)),
      ];
  const children = [
    ...numberCard(composer, 'path', 'lifePath'),
    tell('path.lead', `${own}lead`, {}, 'lead'),
    tell(`path.${drive}`, `${own}${drive}`),
    tell('path.cost', `${own}cost`),
    ...(forParents ? [] : total(composer)),
    ...debtCallout(composer, 'path', 'lifePath'),
    ...parts,
    day(composer),
  ];
  return section('path', 'path', plain('frames/path title'), children, ['numbers.lifePath']);
};
