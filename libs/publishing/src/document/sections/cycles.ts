import type { Stage } from '@app/numerology/index.js';
import { lifeTimeline } from '../../figures/life-timeline.js';
import { type Composer, entryFor } from '../composer.js';
import type { Inline, Section } from '../document.js';
import { numberRef, paragraph, section } from '../nodes.js';

const currentOf = (stages: readonly Stage[]): Stage => {
  const stage = stages.find(({ current }) => current);
  if (!stage) throw new Error('The result has no current stage');
  return stage;
};

/** The pinnacle of the day; the last one has no end, so there always is one. */
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
    ],
    ['cycles'],
  );
};
