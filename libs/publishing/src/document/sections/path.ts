import type { Composer } from '../composer.js';
import type { Paragraph, Section } from '../document.js';
import { callout, paragraph, section } from '../nodes.js';
import { debtCallout, numberCard } from './numbers.js';

/** The total of the Life Path before its last reduction; empty for a single digit. */
const total = ({ result, book, say }: Composer): Paragraph[] => {
  const { chain, value } = result.numbers.lifePath;
  const key = `compounds ${chain.at(-2) ?? value}`;
  return book.has(key) ? [paragraph('path.total', say(key))] : [];
};

const day = (composer: Composer): Section => {
  const { result, say, plain, number } = composer;
  const { birthday } = result.numbers;
  const values = { day: String(birthday.day), number: number('birthday') };
  return section(
    'path.day',
    'subsection',
    plain('frames/path dayTitle'),
    [
      paragraph('path.day.intro', say('frames/path dayIntro', values)),
      paragraph('path.day.text', say(`birthday ${birthday.day}`)),
      ...debtCallout(composer, 'path.day', 'birthday'),
    ],
    ['numbers.birthday'],
  );
};

export const path = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { lifePath, expression } = result.numbers;
  const file = `life-path/${lifePath.value}`;
  const part = (id: string, key: string): Section =>
    section(`path.${id}`, 'subsection', plain(`frames/path ${id}Title`), [
      paragraph(`path.${id}.text`, say(key)),
    ]);
  return section(
    'path',
    'path',
    plain('frames/path title'),
    [
      ...numberCard(composer, 'path', 'lifePath'),
      paragraph('path.lead', say(`${file} lead`), 'lead'),
      paragraph('path.drive', say(`${file} drive`)),
      paragraph('path.cost', say(`${file} cost`)),
      ...total(composer),
      ...debtCallout(composer, 'path', 'lifePath'),
      part('colour', `life-path-colour/${lifePath.value} ${expression.root}`),
      part('others', `${file} others`),
      part('work', `${file} work`),
      part('time', `${file} time`),
      part('help', `${file} help`),
      callout('path.question', 'question', plain('frames/path questionTitle'), say(`${file} question`)),
      day(composer),
    ],
    ['numbers.lifePath'],
  );
};
