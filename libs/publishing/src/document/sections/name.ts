import { relationOf } from '#numerology/index.js';
import type { Values } from '../../content/message.js';
import { letterStrip } from '../figures.js';
import { pairKeys } from '../truth.js';
import type { Composer } from '../composer.js';
import type { Callout, NumberCard, Paragraph, Section } from '../document.js';
import { isMature } from '../facts.js';
import { section } from '../nodes.js';

/** The numbers whose text starts with a card, in document order. */
const CARDED = ['lifePath', 'expression', 'soulUrge', 'personality'] as const;
type CardedKey = (typeof CARDED)[number];

/** The card before the text of one number; empty when the name does not give the number. */
export const numberCard = ({ result, plain }: Composer, sectionId: string, key: CardedKey): NumberCard[] => {
  const { value, display, chain } = result.numbers[key];
  if (value === null) return [];
  return [
    {
      type: 'numberCard',
      id: `${sectionId}.card`,
      ref: `numbers.${key}`,
      label: plain(`frames/terms ${key}`),
      value: display,
      archetype: plain(`labels ${value}.${key}.archetype`),
      keywords: plain(`labels ${value}.${key}.keywords`).split(', '),
      chain,
    },
  ];
};

/** What it does to a number to stand at this position too; empty when it stands here first. */
const numberAgain = ({ result, tell, position }: Composer, id: string, key: CardedKey): Paragraph[] => {
  const { value } = result.numbers[key];
  const holders = CARDED.slice(0, CARDED.indexOf(key)).filter(
    (other) => result.numbers[other].value === value,
  );
  const [earlier] = holders;
  if (value === null || earlier === undefined) return [];
  const text = [key, 'third', 'fourth'][holders.length - 1];
  const values: Values = holders.length === 1 && key !== 'expression' ? { earlier: position(earlier) } : {};
  return [tell(`${id}.again`, `again ${value}.${text}`, values)];
};

/**
 * The karmic debt of a number: the weightiest debt of a reading in full where it stands first, else what it does here.
 * Parents read of each debt once, beside the first number that has it.
 */
export const debtCallout = (
  { result, forParents, tell, plain }: Composer,
  sectionId: string,
  key: CardedKey | 'birthday',
): Callout[] =>
  result.karmicDebts.flatMap(({ debt, at }, index, all) => {
    if (at !== `numbers.${key}`) return [];
    if (forParents && all.findIndex((other) => other.debt === debt) < index) return [];
    const id = `${sectionId}.debt`;
    const title = plain('frames/path debtTitle', { debt: String(debt) });
    const full = forParents ? `under7/debts ${debt}` : `debts ${debt}.text`;
    const told =
      forParents || index === 0 ? tell(`${id}.text`, full) : tell(`${id}.here`, `debts ${debt}.${key}`);
    return [{ type: 'callout', id, variant: 'key', title, children: [told] }];
  });

/** The three numbers of the name, each with its id, and its folder and texts in the book. */
const PARTS = [
  { key: 'expression', id: 'expression', texts: ['gift', 'craft', 'cost', 'help'] },
  { key: 'soulUrge', id: 'soul-urge', texts: ['wish', 'hidden', 'love'] },
  { key: 'personality', id: 'personality', texts: ['first', 'scene', 'behind'] },
] as const;

const namePart = (composer: Composer, { key, id: folder, texts }: (typeof PARTS)[number]): Section => {
  const { result, forParents, tell, part } = composer;
  const { value } = result.numbers[key];
  const id = `name.${folder}`;
  const none = forParents
    ? `frames/name no${key === 'soulUrge' ? 'SoulUrge' : 'Personality'}`
    : `none ${key}`;
  const own = (text: string) =>
    tell(`${id}.${text}`, forParents ? `under7/${value} ${key}.${text}` : `${folder}/${value} ${text}`);
  return part(
    id,
    `frames/name ${key}Title`,
    [
      ...numberCard(composer, id, key),
      ...(forParents ? [] : numberAgain(composer, id, key)),
      ...(value === null ? [tell(`${id}.none`, none)] : (forParents ? ['text', 'help'] : texts).map(own)),
      ...debtCallout(composer, id, key),
    ],
    [`numbers.${key}`],
  );
};

const firstAndFamily = (composer: Composer): Section => {
  const { result, forParents, tell, part, number } = composer;
  const values = { active: number('active'), heredity: number('heredity') };
  const own = (key: 'active' | 'heredity') => {
    const { value } = result.numbers[key];
    return tell(`name.parts.${key}`, forParents ? `under7/${value} ${key}` : `${key} ${value}`);
  };
  return part(
    'name.parts',
    'frames/name partsTitle',
    [
      tell('name.parts.intro', 'frames/name partsIntro', values),
      letterStrip(composer),
      own('active'),
      own('heredity'),
    ],
    ['numbers.active', 'numbers.heredity'],
  );
};

/** Life Path and Expression, the road and what one walks it with; Soul Urge and Personality, what is wished for and shows. */
const pairs = ({ result, forParents, tell, part, number }: Composer): Section[] => {
  const { lifePath, expression, soulUrge, personality } = result.numbers;
  const ofPath = { lifePath: number('lifePath'), expression: number('expression') };
  const ofSoul = { soulUrge: number('soulUrge'), personality: number('personality') };
  const road = 'frames/name roadTitle';
  const door = 'frames/name doorTitle';
  if (forParents) {
    const path = `under7/pairs path.${relationOf(lifePath.root, expression.root)}`;
    const first = part('name.road', road, [tell('name.road.text', path, ofPath)]);
    if (soulUrge.root === null || personality.root === null) return [first];
    const soul = `under7/pairs soul.${relationOf(soulUrge.root, personality.root)}`;
    return [first, part('name.door', door, [tell('name.door.text', soul, ofSoul)])];
  }
  const { path, soul } = pairKeys(result);
  const refs = ['numbers.lifePath', 'numbers.expression', 'bridges.lifePathExpression'];
  const soulRefs = ['numbers.soulUrge', 'numbers.personality', 'bridges.soulUrgePersonality'];
  return [
    part('name.road', road, [tell('name.road.text', path, ofPath)], refs),
    soul === null
      ? part('name.door', door, [tell('name.door.text', 'none pair')])
      : part('name.door', door, [tell('name.door.text', soul, ofSoul)], soulRefs),
  ];
};

const maturity = ({ result, forParents, tell, part, number }: Composer): Section => {
  const { value } = result.numbers.maturity;
  const when = isMature(result) ? 'after' : 'before';
  return part(
    'name.maturity',
    'frames/name maturityTitle',
    [
      tell('name.maturity.intro', 'frames/name maturityIntro', { number: number('maturity') }),
      tell('name.maturity.text', forParents ? `under7/${value} maturity` : `maturity ${value}.${when}`),
    ],
    ['numbers.maturity'],
  );
};

export const name = (composer: Composer): Section =>
  section('name', 'name', composer.plain('frames/name title'), [
    composer.tell('name.intro', 'frames/name intro', { name: composer.name }, 'lead'),
    ...PARTS.map((each) => namePart(composer, each)),
    firstAndFamily(composer),
    ...pairs(composer),
    maturity(composer),
  ]);
