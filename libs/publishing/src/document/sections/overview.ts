import { numberWheel } from '../../figures/number-wheel.js';
import { type Composer, entryFor, type NumberKey } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { paragraph, section, table } from '../nodes.js';

const TABLED = [
  'lifePath',
  'birthday',
  'expression',
  'soulUrge',
  'personality',
  'active',
  'heredity',
  'maturity',
] as const satisfies readonly NumberKey[];

const portrait = ({ result, catalog, say, plain, number }: Composer): Inline[] => {
  const { overview: frame } = catalog.frames;
  const { lifePath, expression, soulUrge } = result.numbers;
  const theme = (value: number) => plain(entryFor(catalog.numbers, value).theme);
  const values = {
    lifePath: number('lifePath'),
    expression: number('expression'),
    lifePathTheme: theme(lifePath.value),
    expressionTheme: theme(expression.value),
  };
  return soulUrge.value === null
    ? say(frame.portraitWithoutSoulUrge, values)
    : say(frame.portrait, { ...values, soulUrge: number('soulUrge'), soulUrgeTheme: theme(soulUrge.value) });
};

export const overview = (composer: Composer): Section => {
  const { result, catalog, say, plain, number } = composer;
  const { overview: frame } = catalog.frames;
  const { terms } = catalog;
  const rows = TABLED.map((key) => {
    const { value } = result.numbers[key];
    return [
      plain(terms[key]),
      number(key),
      value === null ? plain(terms.none) : plain(entryFor(catalog.numbers, value).theme),
    ];
  });
  return section(
    'overview',
    'overview',
    plain(frame.title),
    [
      paragraph('overview.portrait', portrait(composer), 'lead'),
      paragraph('overview.table-intro', say(frame.tableIntro)),
      table(
        'overview.table',
        ['left', 'center', 'left'],
        [plain(terms.position), plain(terms.number), plain(terms.theme)],
        rows,
      ),
      paragraph('overview.wheel-intro', say(frame.wheelIntro)),
      numberWheel(composer),
    ],
    ['numbers', 'synthesis.weights'],
  );
};
