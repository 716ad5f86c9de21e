import { pairKey, relationOf } from '@app/numerology/index.js';
import type { Message } from '../../content/message.js';
import { letterStrip } from '../../figures/letter-strip.js';
import { type Composer, entryFor } from '../composer.js';
import type { Section } from '../document.js';
import { paragraph, section } from '../nodes.js';
import { debtCallout, numberCard } from './numbers.js';

type NamePart = 'expression' | 'soulUrge' | 'personality';

const proseOf = ({ result, catalog }: Composer, part: NamePart): readonly Message[] => {
  const { value } = result.numbers[part];
  if (part === 'expression') return entryFor(catalog.expression, result.numbers.expression.value);
  const family = part === 'soulUrge' ? catalog['soul-urge'] : catalog.personality;
  return [value === null ? family.none : entryFor(family, value)];
};

const namePart = (composer: Composer, key: NamePart, id: string, title: Message): Section => {
  const { say, plain } = composer;
  return section(
    id,
    'subsection',
    plain(title),
    [
      ...numberCard(composer, id, key),
      ...proseOf(composer, key).map((text, index) =>
        paragraph(index === 0 ? `${id}.text` : `${id}.text-${index + 1}`, say(text)),
      ),
      ...debtCallout(composer, id, key),
    ],
    [`numbers.${key}`],
  );
};

const firstAndFamily = (composer: Composer): Section => {
  const { result, catalog, say, plain, number } = composer;
  const frame = catalog['name-parts'];
  const { active, heredity } = result.numbers;
  return section(
    'name.parts',
    'subsection',
    plain(frame.title),
    [
      paragraph(
        'name.parts.intro',
        say(frame.intro, { active: number('active'), heredity: number('heredity') }),
      ),
      letterStrip(composer),
      paragraph('name.parts.active', say(entryFor(frame.active, active.value))),
      paragraph('name.parts.heredity', say(entryFor(frame.heredity, heredity.value))),
    ],
    ['numbers.active', 'numbers.heredity'],
  );
};

const pairOf = (texts: Readonly<Record<string, Message>>, one: number, other: number): Message => {
  const text = texts[pairKey(one, other)];
  if (!text) throw new Error('The content lacks a pair of roots');
  return text;
};

/** Life Path and Expression: how they relate, then what their pair of roots means in a life. */
const roadAndName = ({ result, catalog, say, plain, number }: Composer): Section => {
  const { pairs: frame } = catalog;
  const { lifePath, expression } = result.numbers;
  const values = { lifePath: number('lifePath'), expression: number('expression') };
  const pair = pairOf(frame.path, lifePath.root, expression.root);
  return section(
    'name.road',
    'subsection',
    plain(frame.pathTitle),
    [
      paragraph('name.road.intro', say(frame.pathIntro[relationOf(lifePath.root, expression.root)], values)),
      paragraph('name.road.text', say(pair)),
    ],
    ['numbers.lifePath', 'numbers.expression', 'bridges.lifePathExpression'],
  );
};

const wishAndDoor = ({ result, catalog, say, plain, number }: Composer): Section => {
  const { pairs: frame } = catalog;
  const { soulUrge, personality } = result.numbers;
  const title = plain(frame.soulTitle);
  if (soulUrge.value === null || personality.value === null) {
    return section('name.door', 'subsection', title, [paragraph('name.door.text', say(frame.soulAbsent))]);
  }
  const relation = relationOf(soulUrge.root, personality.root);
  const theme = (value: number) => plain(entryFor(catalog.again.numbers, value).theme);
  const values = { soulUrge: number('soulUrge'), personality: number('personality') };
  const intro =
    relation === 'same'
      ? say(frame.soulIntro.same, values)
      : say(frame.soulIntro[relation], {
          ...values,
          shown: theme(personality.value),
          wished: theme(soulUrge.value),
        });
  return section(
    'name.door',
    'subsection',
    title,
    [
      paragraph('name.door.intro', intro),
      paragraph('name.door.text', say(pairOf(frame.soul, soulUrge.root, personality.root))),
    ],
    ['numbers.soulUrge', 'numbers.personality', 'bridges.soulUrgePersonality'],
  );
};

const maturity = ({ result, catalog, say, plain, number }: Composer): Section =>
  section(
    'name.maturity',
    'subsection',
    plain(catalog.maturity.title),
    [
      paragraph('name.maturity.intro', say(catalog.maturity.intro, { number: number('maturity') })),
      paragraph('name.maturity.text', say(entryFor(catalog.maturity.text, result.numbers.maturity.value))),
    ],
    ['numbers.maturity'],
  );

export const name = (composer: Composer): Section => {
  const { result, catalog, say, plain } = composer;
  const { name: frame } = catalog.frames;
  return section('name', 'name', plain(frame.title), [
    paragraph('name.intro', say(frame.intro, { name: result.subject.displayName }), 'lead'),
    namePart(composer, 'expression', 'name.expression', frame.expressionTitle),
    namePart(composer, 'soulUrge', 'name.soul-urge', frame.soulUrgeTitle),
    namePart(composer, 'personality', 'name.personality', frame.personalityTitle),
    firstAndFamily(composer),
    roadAndName(composer),
    wishAndDoor(composer),
    maturity(composer),
  ]);
};
