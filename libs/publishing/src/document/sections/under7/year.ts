import type { Composer } from '../../composer.js';
import type { Section } from '../../document.js';
import { monthsAhead } from '../../facts.js';
import { callout, paragraph, section } from '../../nodes.js';
import { essence, months, next, yearHead } from '../year.js';

/** A number comes up to three times in twelve months that reach into the next personal year. */
const TIMES = ['month', 'secondMonth', 'thirdMonth'];

/** For a child born in this very year after January, whose first year is a short one. */
const arrival = ({ result, say, plain, month: nameOf }: Composer): Section[] => {
  const [year, month = 1] = result.subject.dateOfBirth.split('-').map(Number);
  if (year !== result.now.year || month === 1) return [];
  const text = say('under7/arrival year', { month: nameOf(month) });
  const title = plain('frames/under7 year.arrivalTitle');
  return [section('year.arrival', 'subsection', title, [paragraph('year.arrival.text', text)])];
};

/** The year of a child under seven, for the parents. */
export const childYear = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { now } = result;
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
