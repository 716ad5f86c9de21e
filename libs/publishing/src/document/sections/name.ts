import type { Message } from '../../content/message.js';
import { type Composer, entryFor } from '../composer.js';
import type { Section } from '../document.js';
import { paragraph, section } from '../nodes.js';
import { debtCallout, numberCard } from './numbers.js';

type NamePart = 'expression' | 'soulUrge' | 'personality';

const proseOf = ({ result, catalog }: Composer, part: NamePart): Message => {
  const { value } = result.numbers[part];
  if (part === 'expression') return entryFor(catalog.expression, result.numbers.expression.value);
  const family = part === 'soulUrge' ? catalog['soul-urge'] : catalog.personality;
  return value === null ? family.none : entryFor(family, value);
};

export const name = (composer: Composer): Section => {
  const { result, catalog, say, plain } = composer;
  const { name: frame } = catalog.frames;
  const part = (key: NamePart, id: string, title: Message): Section =>
    section(
      id,
      'subsection',
      plain(title),
      [
        ...numberCard(composer, id, key),
        paragraph(`${id}.text`, say(proseOf(composer, key))),
        ...debtCallout(composer, id, key),
      ],
      [`numbers.${key}`],
    );
  return section('name', 'name', plain(frame.title), [
    paragraph('name.intro', say(frame.intro, { name: result.subject.displayName }), 'lead'),
    part('expression', 'name.expression', frame.expressionTitle),
    part('soulUrge', 'name.soul-urge', frame.soulUrgeTitle),
    part('personality', 'name.personality', frame.personalityTitle),
  ]);
};
