import { nineYearCycle } from '../../figures/nine-year-cycle.js';
import type { Composer } from '../composer.js';
import type { Block, Inline, Paragraph, Section } from '../document.js';
import { isBeyond, type MonthAhead, monthsAhead } from '../facts.js';
import { callout, numberRef, paragraph, section, sentences, strong, text } from '../nodes.js';

/** The twelve months ahead, each with its text. A line before January says that the personal year changes. */
export const months = (
  { result, say, plain, month: nameOf }: Composer,
  textKey: (ahead: MonthAhead, at: number) => string,
): Section => {
  const turn = ({ year, personalYear }: MonthAhead): Paragraph => {
    const number = numberRef('now.nextPersonalYear', String(personalYear));
    return paragraph('year.months.turn', say('frames/year monthsTurn', { year: String(year), number }));
  };
  return section('year.months', 'subsection', plain('frames/year monthsTitle'), [
    ...monthsAhead(result).flatMap((ahead, at) => {
      const { year, month } = ahead;
      const head = strong([text(`${nameOf(month)} ${year}.`)]);
      const id = `year.months.${year}-${String(month).padStart(2, '0')}`;
      const told = paragraph(id, sentences([[head], say(textKey(ahead, at))]));
      return month === 1 && at > 0 ? [turn(ahead), told] : [told];
    }),
  ]);
};

const ALIKE = ['secondLetter', 'thirdLetter'];

/** The three letters of the name that are in force from birthday to birthday. */
export const essence = ({ result, say, plain }: Composer, family: string): Section => {
  const { physical, mental, spiritual } = result.now.transits;
  // Set apart, since the letter I would read as a word. A letter met before is called the second or third of its kind.
  const letter = (value: string, ...before: string[]): Inline => {
    const again = before.filter((each) => each === value).length;
    const told = again > 0 ? plain(`frames/year ${ALIKE[again - 1]}`, { letter: value }) : value;
    return strong([text(told)]);
  };
  return section(
    'year.essence',
    'subsection',
    plain('frames/year essenceTitle'),
    [
      paragraph(
        'year.essence.text',
        say(`${family} ${result.now.essence.value}`, {
          physical: letter(physical),
          mental: letter(mental, physical),
          spiritual: letter(spiritual, physical, mental),
        }),
      ),
    ],
    ['now.essence', 'now.transits'],
  );
};

export const next = ({ result, say, plain }: Composer, key: string): Section =>
  section(
    'year.next',
    'subsection',
    plain('frames/year nextTitle', { year: String(result.now.year + 1) }),
    [paragraph('year.next.text', say(key))],
    ['now.nextPersonalYear'],
  );

/** The head of the section: which year it is, and its place in the round of nine. */
export const yearHead = (composer: Composer): Block[] => {
  const { result, say } = composer;
  const number = numberRef('now.personalYear', String(result.now.personalYear));
  const values = { year: String(result.now.year), number };
  return [paragraph('year.intro', say('frames/year intro', values), 'lead'), nineYearCycle(composer)];
};

const THEMES = ['love', 'work', 'home', 'inner'] as const;

export const year = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { now } = result;
  const title = plain('frames/year title', { year: String(now.year) });
  if (isBeyond(result)) {
    return section('year', 'year', title, [paragraph('year.beyond', say('frames/year beyond'))]);
  }
  const file = `year/${now.personalYear}`;
  return section(
    'year',
    'year',
    title,
    [
      ...yearHead(composer),
      paragraph('year.climate', say(`${file} climate`)),
      callout('year.practice', 'practice', plain('frames/year practiceTitle'), say(`${file} practice`)),
      ...THEMES.map((theme) =>
        section(`year.${theme}`, 'subsection', plain(`frames/year ${theme}Title`), [
          paragraph(`year.${theme}.text`, say(`${file} ${theme}`)),
        ]),
      ),
      essence(composer, 'essence'),
      next(composer, `year/${now.nextPersonalYear} next`),
      months(composer, ({ personalYear, month }) => `year/${personalYear} months.${month}`),
    ],
    ['now.personalYear'],
  );
};
