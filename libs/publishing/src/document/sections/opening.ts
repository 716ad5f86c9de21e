import { numberWheel } from '../figures.js';
import { isBeyond, isYoung } from '../facts.js';
import type { Composer } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { callout, paragraph, section, sentences, table } from '../nodes.js';

export const opening = ({ result, forParents, name, say, plain, tell, date }: Composer): Section => {
  const values = { name, date: date(result.subject.dateOfBirth) };
  const title = plain('frames/opening noticeTitle');
  return section('opening', 'opening', plain('frames/opening title'), [
    tell('opening.greeting', 'frames/opening greeting', values, 'lead'),
    tell('opening.use', 'frames/opening use'),
    ...(isYoung(result) && !forParents ? [tell('opening.young', 'frames/opening young')] : []),
    ...(isBeyond(result) ? [tell('opening.beyond', 'frames/opening beyond')] : []),
    callout('opening.notice', 'disclaimer', title, say('frames/opening notice')),
  ]);
};

export const closingNotice = ({ plain, tell }: Composer): Section =>
  section('notice', 'notice', plain('frames/opening closingTitle'), [
    tell('notice.text', 'frames/opening notice', {}, 'note'),
  ]);

const TABLED = [
  'lifePath', 'birthday', 'expression', 'soulUrge', 'personality', 'active', 'heredity', 'maturity',
] as const; // prettier-ignore

/** What a number brings forward at its position, in a few words; the same words wherever that position is named. */
const themeOf = ({ result, plain }: Composer, key: (typeof TABLED)[number]): string => {
  const { value } = result.numbers[key];
  if (value === null) return plain('frames/terms none');
  return key === 'birthday' ? plain(`labels-day ${value}.theme`) : plain(`labels ${value}.${key}.theme`);
};

/** A sentence for each leading number. */
const portrait = (composer: Composer): Inline[] => {
  const { result, say, number } = composer;
  const line = (key: 'lifePath' | 'expression' | 'soulUrge') =>
    result.numbers[key].value === null
      ? say(`frames/overview ${key}None`)
      : say(`frames/overview ${key}`, { number: number(key), theme: themeOf(composer, key) });
  return sentences([line('lifePath'), line('expression'), line('soulUrge')]);
};

export const overview = (composer: Composer): Section => {
  const { plain, tell, number } = composer;
  const children = [
    paragraph('overview.portrait', portrait(composer), 'lead'),
    table(
      'overview.table',
      ['left', 'center', 'left'],
      ['position', 'number', 'theme'].map((term) => plain(`frames/terms ${term}`)),
      TABLED.map((key) => [plain(`frames/terms ${key}`), number(key), themeOf(composer, key)]),
    ),
    tell('overview.wheel-intro', 'frames/overview wheelIntro'),
    numberWheel(composer),
  ];
  return section('overview', 'overview', plain('frames/overview title'), children, [
    'numbers',
    'synthesis.weights',
  ]);
};
