import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { monthNumber, monthsOf } from '../../facts.js';
import { callout, paragraph, section } from '../../nodes.js';
import { essence, months, next, yearHead } from '../year.js';

/** The months repeat their numbers after nine. */
const ROUND = 9;

/** For a child born in this very year after January: the months before birth are not told. */
const arrival = ({ result, say, plain, month }: Composer): Section[] => {
  const [first = 1] = monthsOf(result);
  if (first === 1) return [];
  const text = say('under7/arrival year', { month: month(first) });
  const title = plain('frames/under7 year.arrivalTitle');
  return [section('year.arrival', 'subsection', title, [paragraph('year.arrival.text', text)])];
};

/** The year of a child under seven, for the parents. */
export const childYear = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { now } = result;
  const [first = 1] = monthsOf(result);
  const key = `under7/year ${now.personalYear}`;
  const part = (id: 'play' | 'words' | 'people' | 'home', title: string): Section =>
    section(`year.${id}`, 'subsection', plain(title), [paragraph(`year.${id}.text`, say(`${key}.${id}`))]);
  return section(
    'year',
    'year',
    plain('frames/year title', { year: String(now.year) }),
    [
      ...yearHead(composer),
      paragraph('year.climate', say(`${key}.climate`)),
      callout('year.practice', 'practice', plain('frames/under7 year.practiceTitle'), say(`${key}.practice`)),
      part('play', 'frames/under7 year.playTitle'),
      part('words', 'frames/under7 year.wordsTitle'),
      part('people', 'frames/under7 year.peopleTitle'),
      part('home', 'frames/year homeTitle'),
      ...arrival(composer),
      months(composer, (month) => {
        const isSecond = month - ROUND >= first;
        return `under7/year ${monthNumber(now.personalYear, month)}.${isSecond ? 'lateMonth' : 'month'}`;
      }),
      essence(composer, 'under7/essence'),
      next(composer, `under7/year ${now.nextPersonalYear}.next`),
    ],
    ['now.personalYear'],
  );
};
