import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';
import { countedWords } from '../document/sections/method/spelling.js';

/** Every letter of the name above its value, with vowels and consonants marked. */
export const letterStrip = ({ result, plain }: Composer): Figure => {
  const words = countedWords(result).map(({ spelling }) => spelling);
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
