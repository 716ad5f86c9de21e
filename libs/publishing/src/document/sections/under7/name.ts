import { relationOf } from '#numerology/index.js';
import type { Composer } from '../../composer.js';
import type { Paragraph, Section } from '../../document.js';
import { paragraph, section } from '../../nodes.js';
import { firstAndFamily, maturity } from '../name.js';
import { type CardedKey, numberCard } from '../numbers.js';
import { childDebt } from './path.js';

type NamePart = Exclude<CardedKey, 'lifePath'>;

const IDS: Readonly<Record<NamePart, string>> = {
  expression: 'name.expression',
  soulUrge: 'name.soul-urge',
  personality: 'name.personality',
};

const textsOf = ({ result, say }: Composer, key: NamePart): Paragraph[] => {
  const id = IDS[key];
  const { value } = result.numbers[key];
  if (value === null) {
    const none = key === 'soulUrge' ? 'noSoulUrge' : 'noPersonality';
    return [paragraph(`${id}.none`, say(`frames/under7 name.${none}`))];
  }
  return (['text', 'help'] as const).map((part) =>
    paragraph(`${id}.${part}`, say(`under7/${value} ${key}.${part}`)),
  );
};

const namePart = (composer: Composer, key: NamePart): Section =>
  section(
    IDS[key],
    'subsection',
    composer.plain(`frames/name ${key}Title`),
    [
      ...numberCard(composer, IDS[key], key),
      ...textsOf(composer, key),
      ...childDebt(composer, IDS[key], key),
    ],
    [`numbers.${key}`],
  );

const pairs = ({ result, say, plain, number }: Composer): Section[] => {
  const { lifePath, expression, soulUrge, personality } = result.numbers;
  const path = section('name.road', 'subsection', plain('frames/name roadTitle'), [
    paragraph(
      'name.road.text',
      say(`under7/pairs path.${relationOf(lifePath.root, expression.root)}`, {
        lifePath: number('lifePath'),
        expression: number('expression'),
      }),
    ),
  ]);
  if (soulUrge.root === null || personality.root === null) return [path];
  const soul = section('name.door', 'subsection', plain('frames/name doorTitle'), [
    paragraph(
      'name.door.text',
      say(`under7/pairs soul.${relationOf(soulUrge.root, personality.root)}`, {
        soulUrge: number('soulUrge'),
        personality: number('personality'),
      }),
    ),
  ]);
  return [path, soul];
};

/** The name of a child under seven, for the parents. */
export const childName = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { active, heredity, maturity: mature } = result.numbers;
  return section('name', 'name', plain('frames/name title'), [
    paragraph('name.intro', say('frames/name intro', { name: composer.name }), 'lead'),
    ...(['expression', 'soulUrge', 'personality'] as const).map((key) => namePart(composer, key)),
    firstAndFamily(composer, {
      active: `under7/${active.value} active`,
      heredity: `under7/${heredity.value} heredity`,
    }),
    ...pairs(composer),
    maturity(composer, `under7/${mature.value} maturity`),
  ]);
};
