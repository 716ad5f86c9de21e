import { nineYearCycle } from '../figures.js';
import type { Composer } from '../composer.js';
import type { Inline, Paragraph, Section } from '../document.js';
import { isBeyond, type MonthAhead, monthsAhead } from '../facts.js';
import { callout, numberRef, paragraph, section, sentences, strong, text } from '../nodes.js';

/** A number comes up to three times in twelve months that reach into the next personal year. */
const TIMES = ['month', 'secondMonth', 'thirdMonth'];

/** The twelve months ahead, each with its text. A line before January says that the personal year changes. */
const months = ({ result, forParents, say, tell, part, month: nameOf }: Composer): Section => {
  const all = monthsAhead(result);
  const keyOf = ({ number, personalYear, month }: MonthAhead, at: number): string => {
    if (!forParents) return `year/${personalYear} months.${month}`;
    const earlier = all.slice(0, at).filter((each) => each.number === number).length;
    return `under7/year ${number}.${TIMES[earlier]}`;
  };
  const turn = ({ year, personalYear }: MonthAhead): Paragraph => {
    const number = numberRef('now.nextPersonalYear', String(personalYear));
    return tell('year.months.turn', 'frames/year monthsTurn', { year: String(year), number });
  };
  const children = all.flatMap((ahead, at) => {
    const { year, month } = ahead;
    const head = strong([text(`${nameOf(month)} ${year}.`)]);
    const id = `year.months.${year}-${String(month).padStart(2, '0')}`;
    const told = paragraph(id, sentences([[head], say(keyOf(ahead, at))]));
    return month === 1 && at > 0 ? [turn(ahead), told] : [told];
  });
  return part('year.months', 'frames/year monthsTitle', children);
};

const ALIKE = ['secondLetter', 'thirdLetter'];

/** The three letters of the name that are in force from birthday to birthday. */
const essence = ({ result, forParents, plain, tell, part }: Composer): Section => {
  const { physical, mental, spiritual } = result.now.transits;
  // Set apart, since the letter I would read as a word. A letter met before is called the second or third of its kind.
  const letter = (value: string, ...before: string[]): Inline => {
    const again = before.filter((each) => each === value).length;
    const told = again > 0 ? plain(`frames/year ${ALIKE[again - 1]}`, { letter: value }) : value;
    return strong([text(told)]);
  };
  const values = {
    physical: letter(physical),
    mental: letter(mental, physical),
    spiritual: letter(spiritual, physical, mental),
  };
  const key = `${forParents ? 'under7/essence' : 'essence'} ${result.now.essence.value}`;
  const children = [tell('year.essence.text', key, values)];
  return part('year.essence', 'frames/year essenceTitle', children, ['now.essence', 'now.transits']);
};

/** For a child born in this very year after January, whose first year is a short one. */
const arrival = ({ result, forParents, tell, part, month: nameOf }: Composer): Section[] => {
  const [year, month = 1] = result.subject.dateOfBirth.split('-').map(Number);
  if (!forParents || year !== result.now.year || month === 1) return [];
  const told = tell('year.arrival.text', 'under7/arrival year', { month: nameOf(month) });
  return [part('year.arrival', 'frames/year arrivalTitle', [told])];
};

export const year = (composer: Composer): Section => {
  const { result, forParents, say, plain, tell, part } = composer;
  const { now } = result;
  const title = plain('frames/year title', { year: String(now.year) });
  if (isBeyond(result)) return section('year', 'year', title, [tell('year.beyond', 'frames/year beyond')]);
  const own = (of: number): string => (forParents ? `under7/year ${of}.` : `year/${of} `);
  const key = own(now.personalYear);
  const parts = forParents ? ['play', 'words', 'people', 'home'] : ['love', 'work', 'home', 'inner'];
  const number = numberRef('now.personalYear', String(now.personalYear));
  const children = [
    tell('year.intro', 'frames/year intro', { year: String(now.year), number }, 'lead'),
    nineYearCycle(composer),
    tell('year.climate', `${key}climate`),
    callout('year.practice', 'practice', plain('frames/year practiceTitle'), say(`${key}practice`)),
    ...parts.map((id) =>
      part(`year.${id}`, `frames/year ${id}Title`, [tell(`year.${id}.text`, `${key}${id}`)]),
    ),
    ...arrival(composer),
    essence(composer),
    part(
      'year.next',
      { title: plain('frames/year nextTitle', { year: String(now.year + 1) }) },
      [tell('year.next.text', `${own(now.nextPersonalYear)}next`)],
      ['now.nextPersonalYear'],
    ),
    months(composer),
  ];
  return section('year', 'year', title, children, ['now.personalYear']);
};
