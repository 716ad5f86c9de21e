import { letterValue, type ReadingResult } from '@app/numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure, FigureData } from '../document/document.js';
import { table } from '../document/nodes.js';

const PLAIN_VOWELS = 'AEIOU';

const wordsOf = ({ words, yRoles }: ReadingResult['normalization']): FigureData['letterStrip']['words'] =>
  words.map(({ letters }, wordIndex) =>
    [...letters].map((letter, letterIndex) => ({
      letter,
      value: letterValue(letter),
      vowel:
        PLAIN_VOWELS.includes(letter) ||
        yRoles.some((y) => y.wordIndex === wordIndex && y.letterIndex === letterIndex && y.role === 'vowel'),
    })),
  );

/** Every letter of the name above its value, with vowels and consonants marked. */
export const letterStrip = ({ result, catalog, plain }: Composer): Figure => {
  const frame = catalog['name-parts'];
  const { terms } = catalog;
  const words = wordsOf(result.normalization);
  const letters = words.map((word) => word.map(({ letter, value }) => `${letter}\u00A0${value}`).join(', '));
  const rows = words.map((word) => [
    word.map(({ letter }) => letter).join(''),
    ...[true, false].map(
      (vowel) =>
        word
          .filter((entry) => entry.vowel === vowel)
          .map(({ letter, value }) => `${letter}\u00A0${value}`)
          .join(', ') || '–',
    ),
  ]);
  return {
    type: 'figure',
    id: 'name.letters',
    kind: 'letterStrip',
    data: { words },
    caption: plain(frame.stripCaption),
    alt: plain(frame.stripAlt, { letters: letters.join(' / ') }),
    fallback: [
      table(
        'name.letters.table',
        ['left', 'left', 'left'],
        [plain(terms.word), plain(terms.vowels), plain(terms.consonants)],
        rows,
      ),
    ],
  };
};
