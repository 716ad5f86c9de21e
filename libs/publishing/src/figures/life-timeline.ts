import type { Stage } from '#numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

const current = (stages: readonly Stage[]): string => stages.find((stage) => stage.current)?.display ?? '–';

/** The three periods and the four pinnacles on an axis of calendar years, with the year of the reading marked. */
export const lifeTimeline = ({ result, plain }: Composer): Figure => {
  const { periods, pinnacles } = result.cycles;
  const rows = [
    { label: plain('frames/terms periods'), one: plain('frames/terms period'), stages: periods },
    { label: plain('frames/terms pinnacles'), one: plain('frames/terms pinnacle'), stages: pinnacles },
  ];
  const years = ({ fromYear, toYear }: Stage): string =>
    toYear === null
      ? plain('frames/terms onward', { year: String(fromYear) })
      : plain('frames/terms span', { from: String(fromYear), to: String(toYear) });
  return {
    type: 'figure',
    id: 'cycles.timeline',
    kind: 'lifeTimeline',
    data: {
      birthYear: Number(result.subject.dateOfBirth.slice(0, 4)),
      asOfYear: result.now.year,
      rows: rows.map(({ label, stages }) => ({
        label,
        spans: stages.map(({ display, fromYear, toYear }) => ({
          value: display,
          from: fromYear,
          to: toYear,
        })),
      })),
    },
    caption: plain('frames/cycles timelineCaption'),
    alt: plain('frames/cycles timelineAlt', { period: current(periods), pinnacle: current(pinnacles) }),
    fallback: [
      table(
        'cycles.timeline.table',
        ['left', 'center', 'left'],
        [plain('frames/terms position'), plain('frames/terms number'), plain('frames/terms years')],
        rows.flatMap(({ one, stages }) =>
          stages.map((stage) => [`${one} ${stage.index}`, stage.display, years(stage)]),
        ),
      ),
    ],
  };
};
