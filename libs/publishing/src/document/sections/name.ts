import { letterStrip } from '../../figures/letter-strip.js';
import { pairKeys } from '../claimants.js';
import type { Composer } from '../composer.js';
import type { Section } from '../document.js';
import { isMature } from '../facts.js';
import { paragraph, section } from '../nodes.js';
import { type CardedKey, debtCallout, numberAgain, numberCard } from './numbers.js';

interface NamePart {
  readonly key: Exclude<CardedKey, 'lifePath'>;
  readonly id: string;
  /** Folder of the book. */
  readonly folder: string;
  readonly texts: readonly string[];
}

const PARTS: readonly NamePart[] = [
  {
    key: 'expression',
    id: 'name.expression',
    folder: 'expression',
    texts: ['gift', 'craft', 'cost', 'help'],
  },
  { key: 'soulUrge', id: 'name.soul-urge', folder: 'soul-urge', texts: ['wish', 'hidden', 'love'] },
  {
    key: 'personality',
    id: 'name.personality',
    folder: 'personality',
    texts: ['first', 'scene', 'behind'],
  },
];

const namePart = (composer: Composer, { key, id, folder, texts }: NamePart): Section => {
  const { result, say, plain } = composer;
  const { value } = result.numbers[key];
  const told =
    value === null
      ? [paragraph(`${id}.none`, say(`none ${key}`))]
      : texts.map((text) => paragraph(`${id}.${text}`, say(`${folder}/${value} ${text}`)));
  return section(
    id,
    'subsection',
    plain(`frames/name ${key}Title`),
    [
      ...numberCard(composer, id, key),
      ...numberAgain(composer, id, key),
      ...told,
      ...debtCallout(composer, id, key),
    ],
    [`numbers.${key}`],
  );
};

export const firstAndFamily = (composer: Composer, texts: { active: string; heredity: string }): Section => {
  const { say, plain, number } = composer;
  const values = { active: number('active'), heredity: number('heredity') };
  return section(
    'name.parts',
    'subsection',
    plain('frames/name partsTitle'),
    [
      paragraph('name.parts.intro', say('frames/name partsIntro', values)),
      letterStrip(composer),
      paragraph('name.parts.active', say(texts.active)),
      paragraph('name.parts.heredity', say(texts.heredity)),
    ],
    ['numbers.active', 'numbers.heredity'],
  );
};

/** Life Path and Expression: the road, and what one walks it with. */
const roadAndName = ({ result, say, plain, number }: Composer): Section =>
  section(
    'name.road',
    'subsection',
    plain('frames/name roadTitle'),
    [
      paragraph(
        'name.road.text',
        say(pairKeys(result).path, { lifePath: number('lifePath'), expression: number('expression') }),
      ),
    ],
    ['numbers.lifePath', 'numbers.expression', 'bridges.lifePathExpression'],
  );

/** Soul Urge and Personality: what is wished for inside, and what shows. */
const wishAndDoor = ({ result, say, plain, number }: Composer): Section => {
  const { soul } = pairKeys(result);
  const values = { soulUrge: number('soulUrge'), personality: number('personality') };
  return section(
    'name.door',
    'subsection',
    plain('frames/name doorTitle'),
    [paragraph('name.door.text', soul === null ? say('none pair') : say(soul, values))],
    soul === null ? [] : ['numbers.soulUrge', 'numbers.personality', 'bridges.soulUrgePersonality'],
  );
};

export const maturity = ({ say, plain, number }: Composer, text: string): Section =>
  section(
    'name.maturity',
    'subsection',
    plain('frames/name maturityTitle'),
    [
      paragraph('name.maturity.intro', say('frames/name maturityIntro', { number: number('maturity') })),
      paragraph('name.maturity.text', say(text)),
    ],
    ['numbers.maturity'],
  );

export const name = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { active, heredity, maturity: mature } = result.numbers;
  return section('name', 'name', plain('frames/name title'), [
    paragraph('name.intro', say('frames/name intro', { name: composer.name }), 'lead'),
    ...PARTS.map((part) => namePart(composer, part)),
    firstAndFamily(composer, { active: `active ${active.value}`, heredity: `heredity ${heredity.value}` }),
    roadAndName(composer),
    wishAndDoor(composer),
    maturity(composer, `maturity ${mature.value}.${isMature(result) ? 'after' : 'before'}`),
  ]);
};
