import { personalYear, readDate } from '@app/numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

const PAST_YEARS = 5;
const NEXT_YEARS = 3;

/** The personal years around the year of the reading: five past, the current one, three next. */
export const nineYearCycle = ({ result, catalog, plain }: Composer): Figure => {
  const birth = readDate(result.subject.dateOfBirth);
  if (!birth) throw new Error('The result carries a date of birth that is not a date');
  const { year } = result.now;
  const { year: frame } = catalog.frames;
  const years = Array.from({ length: PAST_YEARS + 1 + NEXT_YEARS }, (_, index) => {
    const calendarYear = year - PAST_YEARS + index;
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
    caption: plain(frame.stripCaption),
    alt: plain(frame.stripAlt, {
      from: String(year - PAST_YEARS),
      to: String(year + NEXT_YEARS),
      year: String(year),
      number: String(result.now.personalYear),
    }),
    fallback: [
      table(
        'year.strip.table',
        ['left', 'center'],
        [plain(catalog.terms.years), plain(catalog.terms.personalYear)],
        years.map((entry) => [String(entry.year), String(entry.value)]),
      ),
    ],
  };
};
