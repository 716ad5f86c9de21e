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

const wordTable = ({ result, catalog, plain }: Composer): Block => {
  const { words } = result.normalization;
  const { expression, soulUrge, personality } = result.numbers;
  const { terms } = catalog;
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
    [plain(terms.word), plain(terms.allLetters), plain(terms.vowels), plain(terms.consonants)],
    words.map(({ letters }, index) => [letters, ...columns.map((column) => column[index] ?? '–')]),
  );
};

const yRoles = ({ result, catalog, say, plain, list: join }: Composer) => {
  const { method: frame } = catalog;
  const { yRoles: roles } = result.normalization;
  if (roles.length === 0) return say(frame.yNone);
  const phrases = roles.map(({ word, role }) =>
    plain(role === 'vowel' ? frame.yVowel : frame.yConsonant, { word }),
  );
  return say(frame.yRoles, { roles: join([...new Set(phrases)]) });
};

const words = (composer: Composer): Section => {
  const { result, catalog, say, plain, letterCount, list: join } = composer;
  const { method: frame } = catalog;
  const { letterCount: count, ignored = [] } = result.normalization;
  const setAside = join(ignored.map(({ source }) => source));
  return section(
    'method.words',
    'subsection',
    plain(frame.wordsTitle),
    [
      paragraph('method.words.intro', say(frame.words, { count: letterCount(count) })),
      wordTable(composer),
      paragraph('method.words.y', yRoles(composer)),
      ...(ignored.length > 0
        ? [paragraph('method.words.ignored', say(frame.ignored, { words: setAside }))]
        : []),
    ],
    ['normalization'],
  );
};

const chains = ({ result, catalog, say, plain }: Composer): Section => {
  const { method: frame, terms } = catalog;
  return section(
    'method.chains',
    'subsection',
    plain(frame.chainsTitle),
    [
      paragraph('method.chains.intro', say(frame.chainsIntro)),
      table(
        'method.chains.table',
        ['left', 'left'],
        [plain(terms.position), plain(terms.reduction)],
        CHAINED.map((key) => [plain(terms[key]), trail(result.numbers[key])]),
      ),
    ],
    ['numbers'],
  );
};

/** The annex: every convention, letter and reduction, so that a reader can check the sums by hand. */
export const method = (composer: Composer): Section => {
  const { result, catalog, say, plain, date } = composer;
  const { method: frame } = catalog;
  const versions = {
    date: date(result.asOf),
    method: result.method.id,
    engine: result.engineVersion,
    content: result.contentVersion,
  };
  return section(
    'method',
    'method',
    plain(frame.title),
    [
      paragraph('method.intro', say(frame.intro, { method: result.method.id })),
      list(
        'method.conventions',
        frame.conventions.map((convention) => say(convention)),
      ),
      paragraph('method.as-of', say(frame.asOf, versions), 'note'),
      section('method.letters', 'subsection', plain(frame.lettersTitle), [letterTable()]),
      words(composer),
      chains(composer),
    ],
    ['method'],
  );
};
