import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { monthsAhead } from '../../facts.js';
import { paragraph, section } from '../../nodes.js';
import { essence, months, next, yearHead } from '../year.js';

/** A number comes up to three times in twelve months that reach into the next personal year. */
const TIMES = ['month', 'secondMonth', 'thirdMonth'];

/** The year of a child under seven, for the parents. */
export const childYear = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { now } = result;
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
      essence(composer, 'under7/essence'),
      next(composer, `under7/year ${now.nextPersonalYear}.next`),
      months(composer, ({ number }, at) => {
        const earlier = monthsAhead(result).slice(0, at);
        return `under7/year ${number}.${TIMES[earlier.filter((each) => each.number === number).length]}`;
      }),
    ],
    ['now.personalYear'],
  );
};
