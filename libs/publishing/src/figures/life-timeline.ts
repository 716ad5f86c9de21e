import type { Stage } from '@app/numerology/index.js';
import type { Composer } from '../document/composer.js';
import type { Figure } from '../document/document.js';
import { table } from '../document/nodes.js';

const current = (stages: readonly Stage[]): string => stages.find((stage) => stage.current)?.display ?? '–';

/** The three periods and the four pinnacles on an axis of calendar years, with the year of the reading marked. */
export const lifeTimeline = ({ result, catalog, plain }: Composer): Figure => {
  const { periods, pinnacles } = result.cycles;
  const { cycles: frame, terms } = catalog;
  const rows = [
    { label: plain(terms.periods), one: plain(terms.period), stages: periods },
    { label: plain(terms.pinnacles), one: plain(terms.pinnacle), stages: pinnacles },
  ];
  const years = ({ fromYear, toYear }: Stage): string =>
    toYear === null
      ? plain(terms.onward, { year: String(fromYear) })
      : plain(terms.span, { from: String(fromYear), to: String(toYear) });
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
    caption: plain(frame.timelineCaption),
    alt: plain(frame.timelineAlt, { period: current(periods), pinnacle: current(pinnacles) }),
    fallback: [
      table(
        'cycles.timeline.table',
        ['left', 'center', 'left'],
        [plain(terms.position), plain(terms.number), plain(terms.years)],
        rows.flatMap(({ one, stages }) =>
          stages.map((stage) => [`${one} ${stage.index}`, stage.display, years(stage)]),
        ),
      ),
    ],
  };
};
