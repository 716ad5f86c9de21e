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
export const letterStrip = ({ result, plain }: Composer): Figure => {
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
    caption: plain('frames/name stripCaption'),
    alt: plain('frames/name stripAlt', { letters: letters.join(' / ') }),
    fallback: [
      table(
        'name.letters.table',
        ['left', 'left', 'left'],
        [plain('frames/terms word'), plain('frames/terms vowels'), plain('frames/terms consonants')],
        rows,
      ),
    ],
  };
};
