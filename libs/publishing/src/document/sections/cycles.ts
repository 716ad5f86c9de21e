import type { ReadingResult, Stage } from '#numerology/index.js';
import { lifeTimeline } from '../figures.js';
import type { Composer } from '../composer.js';
import type { Inline, NumberRef, Paragraph, Section } from '../document.js';
import { currentPeriod, currentPinnacle, PERIOD_STAGES, stageOfLife } from '../facts.js';
import { numberRef, paragraph, section, sentences, strong, text } from '../nodes.js';

export const stageRef = (kind: 'periods' | 'pinnacles', stage: Stage): NumberRef =>
  numberRef(`cycles.${kind}.${stage.index - 1}`, stage.display);

/** The number, ages and years of a stage, for the sentences that date it. */
const datesOf = ({ ordinal }: Composer, stage: Stage, number: NumberRef | string) => ({
  number,
  fromAge: ordinal(stage.fromAge),
  toAge: ordinal(stage.toAge ?? 0),
  fromYear: String(stage.fromYear),
  toYear: String(stage.toYear ?? ''),
});

const SPANS = { first: 'periodFirst', second: 'periodSecond', third: 'periodThird' } as const;

/** The three periods, each dated and with its text; of a child only the first. */
const periods = (composer: Composer): Section[] => {
  const { result, forParents, say, plain, part } = composer;
  const stages = forParents ? [currentPeriod(result)] : result.cycles.periods;
  return stages.map((stage, index) => {
    const name = PERIOD_STAGES[index] ?? 'third';
    const id = `cycles.period-${index + 1}`;
    const span = say(`frames/cycles ${SPANS[name]}`, datesOf(composer, stage, stageRef('periods', stage)));
    const told = say(forParents ? `under7/${stage.value} period` : `periods/${name} ${stage.value}`);
    return part(
      id,
      { title: plain(`frames/cycles periodTitles.${name}`, { number: stage.display }) },
      [paragraph(`${id}.text`, sentences([span, told]))],
      forParents ? [] : [`cycles.periods.${index}`],
    );
  });
};

const current = (composer: Composer): Section => {
  const { result, forParents, plain, tell, part } = composer;
  const stage = currentPinnacle(result);
  const span = stage.toAge === null ? 'nowLast' : stage.fromAge === 0 ? 'nowFirst' : 'nowMiddle';
  const key = forParents ? `under7/${stage.value} pinnacle` : `pinnacles/current ${stage.value}`;
  const dates = datesOf(composer, stage, stageRef('pinnacles', stage));
  return part(
    'cycles.now',
    { title: plain('frames/cycles nowTitle', { number: stage.display }) },
    [tell('cycles.now.span', `frames/cycles ${span}`, dates), tell('cycles.now.text', key)],
    forParents ? [] : [`cycles.pinnacles.${stage.index - 1}`],
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
  const { result, say, part } = composer;
  const now = currentPinnacle(result);
  const stages = result.cycles.pinnacles.filter(({ index }) =>
    when === 'past' ? index < now.index : index > now.index,
  );
  if (stages.length === 0) return [];
  const again = result.cycles.pinnacles.find((stage) => toldBefore(result, stage, now) === 1);
  const told = (stage: Stage): Inline[][] => {
    if (toldBefore(result, stage, now) === 0) return [say(`pinnacles/${when} ${stage.value}`)];
    const number = stageRef('pinnacles', stage);
    return stage === again ? [say('frames/cycles sameAgain', { number })] : [];
  };
  const children = stages.map((stage) => {
    const head = say(`frames/cycles ${headOf(stage, when)}`, datesOf(composer, stage, stage.display));
    return paragraph(`cycles.${when}.${stage.index}`, sentences([[strong(head)], ...told(stage)]));
  });
  return [part(`cycles.${when}`, `frames/cycles ${when}Title`, children, ['cycles.pinnacles'])];
};

/** The stages of a child's far future, a few lines each; a number told already gets a sentence at most. */
const later = (composer: Composer, kind: 'period' | 'pinnacle'): Paragraph[] => {
  const { result, say } = composer;
  const isPeriod = kind === 'period';
  const name = isPeriod ? 'laterPeriod' : 'laterPinnacle';
  const stages = (isPeriod ? result.cycles.periods : result.cycles.pinnacles).slice(1);
  return stages.map((stage, at) => {
    const earlier = stages.slice(0, at).filter(({ value }) => value === stage.value).length;
    const head = strong(say(`frames/cycles ${name}`, datesOf(composer, stage, stage.display)));
    const again = isPeriod
      ? say('frames/cycles samePeriod')
      : say('frames/cycles sameAgain', { number: stageRef('pinnacles', stage) });
    // A third pinnacle with the number would print the same sentence twice.
    const told = [[say(`under7/${stage.value} ${name}`)], [again]][earlier] ?? [];
    return paragraph(`cycles.later.${kind}-${stage.index}`, sentences([[head], ...told]));
  });
};

/** The challenge of each time of a life, by the current period. */
const OF_STAGE = {
  first: { key: 'first', when: 'early' },
  second: { key: 'second', when: 'middle' },
  third: { key: 'fourth', when: 'late' },
} as const;

/** The challenge of a whole life, and the one of the reader's time of life; for parents each other number. */
const challenges = (composer: Composer): Section => {
  const { result, forParents, say, plain, tell, part } = composer;
  const { challenges: all } = result.cycles;
  const { key, when } = OF_STAGE[stageOfLife(result)];
  const own = forParents ? 'under7/challenges' : 'challenges';
  const ofStage = () => {
    const title = plain(`frames/cycles minorTitles.${key}`, { number: String(all[key]) });
    const told = sentences([[strong([text(`${title}.`)])], say(`${own} ${all[key]}.${when}`)]);
    return [paragraph(`cycles.challenges.${key}`, told)];
  };
  const minor = () =>
    [...new Set([all.first, all.second, all.fourth])]
      .filter((value) => value !== all.main)
      .map((value) => tell(`cycles.challenges.minor-${value}`, `${own} ${value}.minor`));
  const number = numberRef('cycles.challenges.main', String(all.main));
  return part(
    'cycles.challenges',
    'frames/cycles challengesTitle',
    [
      tell('cycles.challenges.intro', 'frames/cycles challengesIntro', { number }),
      tell('cycles.challenges.main', `${own} ${all.main}.main`),
      ...(forParents ? minor() : ofStage()),
    ],
    ['cycles.challenges'],
  );
};

export const cycles = (composer: Composer): Section => {
  const { forParents, plain, tell, part } = composer;
  const children = [
    tell('cycles.intro', 'frames/cycles intro', {}, 'lead'),
    lifeTimeline(composer),
    ...periods(composer),
    current(composer),
    ...(forParents
      ? [
          part('cycles.later', 'frames/cycles laterTitle', [
            ...later(composer, 'period'),
            ...later(composer, 'pinnacle'),
          ]),
        ]
      : [...others(composer, 'past'), ...others(composer, 'ahead')]),
    challenges(composer),
  ];
  return section('cycles', 'cycles', plain('frames/cycles title'), children, ['cycles']);
};
