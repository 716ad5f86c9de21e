import type { Stage } from '@app/numerology/index.js';
import { lifeTimeline } from '../../figures/life-timeline.js';
import { type Composer, entryFor } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { list, numberRef, paragraph, section, sentences } from '../nodes.js';

const currentOf = (stages: readonly Stage[]): Stage => {
  const stage = stages.find(({ current }) => current);
  if (!stage) throw new Error('The result has no current stage');
  return stage;
};

export const currentPeriod = ({ result }: Composer): Stage => currentOf(result.cycles.periods);

/** The current pinnacle. There always is one, since the last has no end. */
export const currentPinnacle = ({ result }: Composer): Stage => currentOf(result.cycles.pinnacles);

export const pinnacleRef = (stage: Stage) => numberRef(`cycles.pinnacles.${stage.index - 1}`, stage.display);

const span = ({ catalog, say, ordinal }: Composer, stage: Stage): Inline[] => {
  const { cycles: frame } = catalog;
  const number = pinnacleRef(stage);
  const fromAge = ordinal(stage.fromAge);
  if (stage.toAge === null) return say(frame.spanLast, { number, fromAge });
  const toAge = ordinal(stage.toAge);
  return stage.fromAge === 0
    ? say(frame.spanFirst, { number, toAge })
    : say(frame.spanMiddle, { number, fromAge, toAge });
};

/** The three other pinnacles, in order, a line each. */
const otherPinnacles = ({ result, catalog, say, plain, ordinal }: Composer): Section => {
  const { pinnacles: frame } = catalog;
  const { pinnacles } = result.cycles;
  const others = pinnacles.filter(({ current }) => !current);
  const lines = others.map((stage, index) => {
    const isRepeated = others.slice(0, index).some(({ value }) => value === stage.value);
    const values = {
      number: pinnacleRef(stage),
      text: plain(isRepeated ? frame.again : entryFor(frame.text, stage.value)),
      fromAge: ordinal(stage.fromAge),
      toAge: ordinal(stage.toAge ?? 0),
    };
    if (stage.fromAge === 0) return say(frame.first, values);
    return say(stage.toAge === null ? frame.last : frame.middle, values);
  });
  return section(
    'cycles.others',
    'subsection',
    plain(frame.title),
    [paragraph('cycles.others.intro', say(frame.intro)), list('cycles.others.list', lines)],
    ['cycles.pinnacles'],
  );
};

const challenges = ({ result, catalog, say, plain }: Composer): Section => {
  const { challenges: frame } = catalog;
  const { main } = result.cycles.challenges;
  const ref = (key: string, value: number) => numberRef(`cycles.challenges.${key}`, String(value));
  const keys = ['first', 'second', 'fourth'] as const;
  const lines = keys.map((key, index) => {
    const value = result.cycles.challenges[key];
    const isRepeated = keys.slice(0, index).some((other) => result.cycles.challenges[other] === value);
    const text = plain(isRepeated ? frame.again : entryFor(frame.minor, value));
    return say(frame[key], { number: ref(key, value), text });
  });
  return section(
    'cycles.challenges',
    'subsection',
    plain(frame.title),
    [
      paragraph('cycles.challenges.intro', say(frame.intro)),
      paragraph(
        'cycles.challenges.main',
        sentences([say(frame.mainIntro, { number: ref('main', main) }), say(entryFor(frame.main, main))]),
      ),
      paragraph('cycles.challenges.others-intro', say(frame.othersIntro)),
      list('cycles.challenges.list', lines),
    ],
    ['cycles.challenges'],
  );
};

export const cycles = (composer: Composer): Section => {
  const { result, catalog, say, plain } = composer;
  const { cycles: frame } = catalog;
  const stage = currentPinnacle(composer);
  const climate = currentOf(result.cycles.periods);
  return section(
    'cycles',
    'cycles',
    plain(frame.title),
    [
      paragraph('cycles.intro', say(frame.intro), 'lead'),
      lifeTimeline(composer),
      section(
        'cycles.climate',
        'subsection',
        plain(frame.climateTitle, { number: climate.display }),
        [paragraph('cycles.climate.text', say(entryFor(frame.period, climate.value)))],
        [`cycles.periods.${climate.index - 1}`],
      ),
      section(
        'cycles.now',
        'subsection',
        plain(frame.nowTitle, { number: stage.display }),
        [
          paragraph('cycles.now.span', span(composer, stage)),
          paragraph('cycles.now.text', say(entryFor(frame.pinnacle, stage.value))),
        ],
        [`cycles.pinnacles.${stage.index - 1}`],
      ),
      otherPinnacles(composer),
      challenges(composer),
    ],
    ['cycles'],
  );
};
