import type { Stage } from '#numerology/index.js';
import { lifeTimeline } from '../../../figures/life-timeline.js';
import type { Composer } from '../../composer.js';
import type { Paragraph, Section } from '../../document.js';
import { currentPeriod, currentPinnacle } from '../../facts.js';
import { paragraph, section, sentences, strong } from '../../nodes.js';
import { mainChallenge } from '../challenges.js';
import { datesOf, periodRef, pinnacleRef } from '../cycles.js';

/** The stages of a far future, a few lines each; a number told already gets a sentence at most. */
const later = (composer: Composer, kind: 'period' | 'pinnacle'): Paragraph[] => {
  const { result, say } = composer;
  const isPeriod = kind === 'period';
  const stages: readonly Stage[] = (isPeriod ? result.cycles.periods : result.cycles.pinnacles).slice(1);
  return stages.map((stage, at) => {
    const earlier = stages.slice(0, at).filter(({ value }) => value === stage.value).length;
    const head = strong(
      say(
        `frames/under7 cycles.${isPeriod ? 'laterPeriod' : 'laterPinnacle'}`,
        datesOf(composer, stage, stage.display),
      ),
    );
    const own = `under7/${stage.value} ${isPeriod ? 'laterPeriod' : 'laterPinnacle'}`;
    const again = isPeriod
      ? say('frames/under7 cycles.samePeriod')
      : say('frames/cycles sameAgain', { number: pinnacleRef(stage) });
    // A third pinnacle with the number would print the same sentence twice.
    const text = [[say(own)], [again]][earlier] ?? [];
    return paragraph(`cycles.later.${kind}-${stage.index}`, sentences([[head], ...text]));
  });
};

const challenges = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const { challenges: all } = result.cycles;
  const minor = [...new Set([all.first, all.second, all.fourth])].filter((value) => value !== all.main);
  return section(
    'cycles.challenges',
    'subsection',
    plain('frames/cycles challengesTitle'),
    [
      paragraph(
        'cycles.challenges.intro',
        say('frames/cycles challengesIntro', { number: mainChallenge(composer) }),
      ),
      paragraph('cycles.challenges.main', say(`under7/challenges ${all.main}.main`)),
      ...minor.map((value) =>
        paragraph(`cycles.challenges.minor-${value}`, say(`under7/challenges ${value}.minor`)),
      ),
    ],
    ['cycles.challenges'],
  );
};

/** The cycles of a child under seven, for the parents: the first of each, and a glance at the others. */
export const childCycles = (composer: Composer): Section => {
  const { result, say, plain } = composer;
  const period = currentPeriod(result);
  const pinnacle = currentPinnacle(result);
  const periodDates = datesOf(composer, period, periodRef(period));
  return section(
    'cycles',
    'cycles',
    plain('frames/cycles title'),
    [
      paragraph('cycles.intro', say('frames/cycles intro'), 'lead'),
      lifeTimeline(composer),
      section(
        'cycles.period-1',
        'subsection',
        plain('frames/cycles periodTitles.first', { number: period.display }),
        [
          paragraph(
            'cycles.period-1.text',
            sentences([say('frames/cycles periodFirst', periodDates), say(`under7/${period.value} period`)]),
          ),
        ],
      ),
      section('cycles.now', 'subsection', plain('frames/cycles nowTitle', { number: pinnacle.display }), [
        paragraph(
          'cycles.now.span',
          say('frames/cycles nowFirst', datesOf(composer, pinnacle, pinnacleRef(pinnacle))),
        ),
        paragraph('cycles.now.text', say(`under7/${pinnacle.value} pinnacle`)),
      ]),
      section('cycles.later', 'subsection', plain('frames/under7 cycles.laterTitle'), [
        ...later(composer, 'period'),
        ...later(composer, 'pinnacle'),
      ]),
      challenges(composer),
    ],
    ['cycles'],
  );
};
