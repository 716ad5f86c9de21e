import { DIGITS, letterValue } from '@app/numerology/index.js';
import type { Composer, NumberKey } from '../composer.js';
import type { Block, Section } from '../document.js';
import { list, paragraph, section, table } from '../nodes.js';

const ALPHABET = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

const CHAINED = [
  'lifePath',
  'birthday',
  'expression',
  'soulUrge',
  'personality',
  'active',
  'heredity',
  'maturity',
  'balance',
  'rationalThought',
  'subconsciousSelf',
] as const satisfies readonly NumberKey[];

/** « 6 + 6 + 1 = 13 → 4 »: the addends, then each total down to the reduced number. */
const trail = (number: Composer['result']['numbers'][NumberKey]): string => {
  const chain = number.chain.join(' → ');
  const parts: readonly { value: number }[] = 'parts' in number ? number.parts : [];
  if (chain === '') return '–';
  return parts.length > 1 ? `${parts.map(({ value }) => value).join(' + ')} = ${chain}` : chain;
};

const letterTable = (): Block =>
  table(
    'method.letters.table',
    DIGITS.map(() => 'center' as const),
    DIGITS.map(String),
    ['AI', 'JR', 'SZ'].map((row) => {
      const letters = ALPHABET.filter((letter) => letter >= (row[0] ?? '') && letter <= (row[1] ?? ''));
      return DIGITS.map((digit) => letters.find((letter) => letterValue(letter) === digit) ?? '–');
    }),
  );

const wordTable = ({ result, plain }: Composer): Block => {
  const { words } = result.normalization;
  const { expression, soulUrge, personality } = result.numbers;
  // A word without a vowel (or consonant) has no part; the other parts are in the order of the words.
  const sums = (parts: readonly { word: string; sum: number; value: number }[]): string[] => {
    const queue = [...parts];
    return words.map(({ letters }) => {
      const part = queue[0]?.word === letters ? queue.shift() : undefined;
      if (!part) return '–';
      return part.sum === part.value ? String(part.sum) : `${part.sum} → ${part.value}`;
    });
  };
  const columns = [sums(expression.parts), sums(soulUrge.parts), sums(personality.parts)];
  return table(
    'method.words.table',
    ['left', 'center', 'center', 'center'],
    (['word', 'allLetters', 'vowels', 'consonants'] as const).map((term) => plain(`frames/terms ${term}`)),
    words.map(({ letters }, index) => [letters, ...columns.map((column) => column[index] ?? '–')]),
  );
};

const yRoles = ({ result, say, plain, list: join }: Composer) => {
  const { yRoles: roles } = result.normalization;
  if (roles.length === 0) return say('frames/method yNone');
  const phrases = roles.map(({ word, role }) =>
    plain(`frames/method ${role === 'vowel' ? 'yVowel' : 'yConsonant'}`, { word }),
  );
  return say('frames/method yRoles', { roles: join([...new Set(phrases)]) });
};

const words = (composer: Composer): Section => {
  const { result, say, plain, letterCount, list: join } = composer;
  const { letterCount: count, ignored = [] } = result.normalization;
  const setAside = join(ignored.map(({ source }) => source));
  return section(
    'method.words',
    'subsection',
    plain('frames/method wordsTitle'),
    [
      paragraph('method.words.intro', say('frames/method words', { count: letterCount(count) })),
      wordTable(composer),
      paragraph('method.words.y', yRoles(composer)),
      ...(ignored.length > 0
        ? [paragraph('method.words.ignored', say('frames/method ignored', { words: setAside }))]
        : []),
    ],
    ['normalization'],
  );
};

const chains = ({ result, say, plain }: Composer): Section => {
  return section(
    'method.chains',
    'subsection',
    plain('frames/method chainsTitle'),
    [
      paragraph('method.chains.intro', say('frames/method chainsIntro')),
      table(
        'method.chains.table',
        ['left', 'left'],
        [plain('frames/terms position'), plain('frames/terms reduction')],
        CHAINED.map((key) => [plain(`frames/terms ${key}`), trail(result.numbers[key])]),
      ),
    ],
    ['numbers'],
  );
};

/** The annex: every convention, letter and reduction, so that a reader can check the sums by hand. */
export const method = (composer: Composer): Section => {
  const { result, say, plain, all, date } = composer;
  const versions = {
    date: date(result.asOf),
    method: result.method.id,
    engine: result.engineVersion,
    content: result.contentVersion,
  };
  return section(
    'method',
    'method',
    plain('frames/method title'),
    [
      paragraph('method.intro', say('frames/method intro', { method: result.method.id })),
      list('method.conventions', all('frames/method conventions')),
      paragraph('method.as-of', say('frames/method asOf', versions), 'note'),
      section('method.letters', 'subsection', plain('frames/method lettersTitle'), [letterTable()]),
      words(composer),
      chains(composer),
    ],
    ['method'],
  );
};
