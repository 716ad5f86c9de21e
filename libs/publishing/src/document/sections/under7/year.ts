import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { monthNumber, monthsOf } from '../../facts.js';
import { paragraph, section } from '../../nodes.js';
import { essence, months, next, yearHead } from '../year.js';

/** The months repeat their numbers after nine. */
const ROUND = 9;

/** The year of a child under seven, for the parents. */
export const childYear = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { now } = result;
  const [first = 1] = monthsOf(result);
  const key = `under7/year ${now.personalYear}`;
  const part = (id: 'play' | 'people' | 'home', title: string): Section =>
    section(`year.${id}`, 'subsection', plain(title), [paragraph(`year.${id}.text`, say(`${key}.${id}`))]);
  return section(
    'year',
    'year',
    plain('frames/year title', { year: String(now.year) }),
    [
      ...yearHead(composer),
      paragraph('year.climate', say(`${key}.climate`)),
      part('play', 'frames/under7 year.playTitle'),
      part('people', 'frames/under7 year.peopleTitle'),
      part('home', 'frames/year homeTitle'),
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
