import type { ReadingResult, Stage } from '#numerology/index.js';
import { lifeTimeline } from '../../figures/life-timeline.js';
import type { Composer } from '../composer.js';
import type { Inline, NumberRef, Section } from '../document.js';
import { currentPinnacle, PERIOD_STAGES } from '../facts.js';
import { numberRef, paragraph, section, sentences, strong } from '../nodes.js';
import { challenges } from './challenges.js';

export const periodRef = (stage: Stage): NumberRef =>
  numberRef(`cycles.periods.${stage.index - 1}`, stage.display);
export const pinnacleRef = (stage: Stage): NumberRef =>
  numberRef(`cycles.pinnacles.${stage.index - 1}`, stage.display);

/** The number, ages and years of a stage, for the sentences that date it. */
export const datesOf = ({ ordinal }: Composer, stage: Stage, number: NumberRef | string) => ({
  number,
  fromAge: ordinal(stage.fromAge),
  toAge: ordinal(stage.toAge ?? 0),
  fromYear: String(stage.fromYear),
  toYear: String(stage.toYear ?? ''),
});

const SPANS = { first: 'periodFirst', second: 'periodSecond', third: 'periodThird' } as const;

/** The three periods, each dated and with its text. */
const periods = (composer: Composer): Section[] => {
  const { result, say, plain } = composer;
  return result.cycles.periods.map((stage, index) => {
    const name = PERIOD_STAGES[index] ?? 'third';
    const id = `cycles.period-${stage.index}`;
    const span = say(`frames/cycles ${SPANS[name]}`, datesOf(composer, stage, periodRef(stage)));
    return section(
      id,
      'subsection',
      plain(`frames/cycles periodTitles.${name}`, { number: stage.display }),
      [paragraph(`${id}.text`, sentences([span, say(`periods/${name} ${stage.value}`)]))],
      [`cycles.periods.${index}`],
    );
  });
};

const current = (composer: Composer): Section => {
  const { say, plain, result } = composer;
  const stage = currentPinnacle(result);
  const span = stage.toAge === null ? 'nowLast' : stage.fromAge === 0 ? 'nowFirst' : 'nowMiddle';
  return section(
    'cycles.now',
    'subsection',
    plain('frames/cycles nowTitle', { number: stage.display }),
    [
      paragraph(
        'cycles.now.span',
        say(`frames/cycles ${span}`, datesOf(composer, stage, pinnacleRef(stage))),
      ),
      paragraph('cycles.now.text', say(`pinnacles/current ${stage.value}`)),
    ],
    [`cycles.pinnacles.${stage.index - 1}`],
  );
};

const headOf = (stage: Stage, when: 'past' | 'ahead'): string => {
  if (when === 'past') return stage.fromAge === 0 ? 'pastFirst' : 'pastMiddle';
  return stage.toAge === null ? 'aheadLast' : 'aheadMiddle';
};

/** How often the page has told the number of a pinnacle: behind and ahead are read apart, and ahead after the current. */
const toldBefore = ({ cycles }: ReadingResult, stage: Stage, now: Stage): number =>
  cycles.pinnacles.filter(
    ({ index, value }) =>
      value === stage.value && index < stage.index && (stage.index < now.index || index >= now.index),
  ).length;

/** The pinnacles before or after the current one. A number told already gets a sentence, once in a reading, else only dates. */
const others = (composer: Composer, when: 'past' | 'ahead'): Section[] => {
  const { result, say, plain } = composer;
  const now = currentPinnacle(result);
  const stages = result.cycles.pinnacles.filter(({ index }) =>
    when === 'past' ? index < now.index : index > now.index,
  );
  if (stages.length === 0) return [];
  const again = result.cycles.pinnacles.find((stage) => toldBefore(result, stage, now) === 1);
  const text = (stage: Stage): Inline[] => {
    if (toldBefore(result, stage, now) === 0) return say(`pinnacles/${when} ${stage.value}`);
    return stage === again ? say('frames/cycles sameAgain', { number: pinnacleRef(stage) }) : [];
  };
  return [
    section(
      `cycles.${when}`,
      'subsection',
      plain(`frames/cycles ${when}Title`),
      stages.map((stage) => {
        const head = say(`frames/cycles ${headOf(stage, when)}`, datesOf(composer, stage, stage.display));
        return paragraph(
          `cycles.${when}.${stage.index}`,
          sentences([[strong(head)], text(stage)].filter(({ length }) => length > 0)),
        );
      }),
      ['cycles.pinnacles'],
    ),
  ];
};

export const cycles = (composer: Composer): Section => {
  const { say, plain } = composer;
  return section(
    'cycles',
    'cycles',
    plain('frames/cycles title'),
    [
      paragraph('cycles.intro', say('frames/cycles intro'), 'lead'),
      lifeTimeline(composer),
      ...periods(composer),
      current(composer),
      ...others(composer, 'past'),
      ...others(composer, 'ahead'),
      challenges(composer),
    ],
    ['cycles'],
  );
};
