import { numberWheel } from '../../figures/number-wheel.js';
import type { Composer } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { paragraph, section, sentences, table } from '../nodes.js';

const TABLED = [
  'lifePath',
  'birthday',
  'expression',
  'soulUrge',
  'personality',
  'active',
  'heredity',
  'maturity',
] as const;

type Tabled = (typeof TABLED)[number];

/** What a number brings forward at its position, in a few words; the same words wherever that position is named. */
const themeOf = ({ result, plain }: Composer, key: Tabled): string => {
  const { value } = result.numbers[key];
  if (value === null) return plain('frames/terms none');
  return key === 'birthday' ? plain(`labels-day ${value}.theme`) : plain(`labels ${value}.${key}.theme`);
};

/** A sentence for each leading number. */
const portrait = (composer: Composer): Inline[] => {
  const { result, say, number } = composer;
  const line = (key: 'lifePath' | 'expression' | 'soulUrge') =>
    say(`frames/overview ${key}`, { number: number(key), theme: themeOf(composer, key) });
  return sentences([
    line('lifePath'),
    line('expression'),
    result.numbers.soulUrge.value === null ? say('frames/overview soulUrgeNone') : line('soulUrge'),
  ]);
};

export const overview = (composer: Composer): Section => {
  const { say, plain, number } = composer;
  return section(
    'overview',
    'overview',
    plain('frames/overview title'),
    [
      paragraph('overview.portrait', portrait(composer), 'lead'),
      table(
        'overview.table',
        ['left', 'center', 'left'],
        (['position', 'number', 'theme'] as const).map((term) => plain(`frames/terms ${term}`)),
        TABLED.map((key) => [plain(`frames/terms ${key}`), number(key), themeOf(composer, key)]),
      ),
      paragraph('overview.wheel-intro', say('frames/overview wheelIntro')),
      numberWheel(composer),
    ],
    ['numbers', 'synthesis.weights'],
  );
};
