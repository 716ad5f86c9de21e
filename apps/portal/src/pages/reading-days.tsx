import { CountReadings, type ReadingsOfDay } from '@app/readings/contracts/index.js';
import type { Visit } from '../frame/page.js';

/** Days that the portal looks back on, today included. */
const DAYS = 14;
const DAY_MS = 86_400_000;

/** How many readings were ordered on each of the last days (UTC), oldest first. */
export const readingsByDay = async ({ queries, session }: Visit): Promise<readonly ReadingsOfDay[]> => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const days = Array.from({ length: DAYS }, (_, at) =>
    new Date(today - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
  const counted = await queries.execute(
    new CountReadings(session.workspaceId, session.mode === 'live', `${days[0]}T00:00:00.000Z`),
  );
  const byDay = new Map(counted.map(({ day, readings }) => [day, readings]));
  return days.map((day) => ({ day, readings: byDay.get(day) ?? 0 }));
};

const HEIGHT = 80;
const WIDTH = 24;

/** A small chart; its numbers are in its text for those who do not see it. */
export const DaysChart = ({
  visit: { texts, formats },
  days,
}: {
  visit: Visit;
  days: readonly ReadingsOfDay[];
}) => {
  const most = Math.max(1, ...days.map(({ readings }) => readings));
  const described = days
    .filter(({ readings }) => readings > 0)
    .map(({ day, readings }) => `${day}: ${formats.number(readings)}`);
  return (
    <figure>
      <svg
        class="chart"
        role="img"
        aria-label={`${texts.overview.chart} ${described.join(', ') || texts.none}`}
        viewBox={`0 0 ${days.length * WIDTH} ${HEIGHT + 2}`}
      >
        {days.map(({ day, readings }, at) => {
          const height = Math.round((readings / most) * HEIGHT);
          return (
            <rect class="bar" x={at * WIDTH + 3} y={HEIGHT - height} width={WIDTH - 6} height={height}>
              <title>{`${day}: ${formats.number(readings)}`}</title>
            </rect>
          );
        })}
        <line class="axis" x1="0" x2={days.length * WIDTH} y1={HEIGHT + 1} y2={HEIGHT + 1} />
      </svg>
      <figcaption class="soft">{texts.overview.chart}</figcaption>
    </figure>
  );
};
