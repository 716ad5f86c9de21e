import { personalYear, readDate } from '#numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

const PAST_YEARS = 5;
const YEARS_SHOWN = 9;

/** Nine personal years around the year of the reading: the five before it, or as many as the person has lived, and on. */
export const nineYearCycle = ({ result, plain }: Composer): Figure => {
  const birth = readDate(result.subject.dateOfBirth);
  if (!birth) throw new Error('The result carries a date of birth that is not a date');
  const { year } = result.now;
  const first = Math.max(year - PAST_YEARS, birth.year);
  const years = Array.from({ length: YEARS_SHOWN }, (_, index) => {
    const calendarYear = first + index;
    return {
      year: calendarYear,
      value: personalYear(birth, calendarYear),
      current: calendarYear === year,
    };
  });
  return {
    type: 'figure',
    id: 'year.strip',
    kind: 'nineYearCycle',
    data: { years },
    caption: plain('frames/year stripCaption'),
    alt: plain('frames/year stripAlt', {
      from: String(first),
      to: String(first + YEARS_SHOWN - 1),
      year: String(year),
      number: String(result.now.personalYear),
    }),
    fallback: [
      table(
        'year.strip.table',
        ['left', 'center'],
        [plain('frames/terms years'), plain('frames/terms personalYear')],
        years.map((entry) => [String(entry.year), String(entry.value)]),
      ),
    ],
  };
};
