import type { Message } from '../../content/message.js';
import { numberWheel } from '../../figures/number-wheel.js';
import { type Composer, entryFor, type NumberKey } from '../composer.js';
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
] as const satisfies readonly NumberKey[];

/** Three sentences, one per leading number. A number that was just named is only echoed, not explained again. */
const portrait = ({ result, catalog, say, plain, number }: Composer): Inline[] => {
  const { portrait: frame } = catalog.frames.overview;
  const { lifePath, expression, soulUrge } = result.numbers;
  const theme = (value: number) => plain(entryFor(catalog.numbers, value).theme);
  const lines = [say(frame.lifePath, { number: number('lifePath'), theme: theme(lifePath.value) })];

  const expressed = number('expression');
  lines.push(
    expression.value === lifePath.value
      ? say(frame.expressionEcho, { number: expressed })
      : say(frame.expression, { number: expressed, theme: theme(expression.value) }),
  );

  const urge = number('soulUrge');
  if (soulUrge.value === null) lines.push(say(frame.soulUrgeNone));
  else if (soulUrge.value === lifePath.value || soulUrge.value === expression.value) {
    lines.push(say(frame.soulUrgeEcho, { number: urge }));
  } else lines.push(say(frame.soulUrge, { number: urge, theme: theme(soulUrge.value) }));

  return sentences([...lines, say(frame.end)]);
};

/** The theme of a number. Its second row shows its other side; later rows only say that it returns. */
const themeOf = ({ catalog }: Composer, value: number | null, earlier: number): Message => {
  if (value === null) return catalog.terms.none;
  const sides = [entryFor(catalog.numbers, value).theme, entryFor(catalog.again.numbers, value).theme];
  return sides[earlier] ?? catalog.again.sameNumber;
};

export const overview = (composer: Composer): Section => {
  const { result, catalog, say, plain, number } = composer;
  const { overview: frame } = catalog.frames;
  const { terms } = catalog;
  const rows = TABLED.map((key, index) => {
    const { value } = result.numbers[key];
    const earlier = TABLED.slice(0, index).filter((other) => result.numbers[other].value === value).length;
    return [plain(terms[key]), number(key), plain(themeOf(composer, value, earlier))];
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
