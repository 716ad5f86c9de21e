import { CountReadings, type ReadingsOfDay } from '#readings/contracts/index.js';
import { BarChart } from '../frame/chart.js';
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

/** A small chart; its numbers are in its text for those who do not see it. */
export const DaysChart = ({
  visit: { texts, formats },
  days,
}: {
  visit: Visit;
  days: readonly ReadingsOfDay[];
}) => {
  const bars = days.map(({ day, readings }) => ({
    label: texts.pair(formats.date(day), formats.number(readings)),
    values: [readings],
  }));
  const described = bars.filter(({ values }) => values[0]! > 0).map(({ label }) => label);
  return (
    <figure>
      <BarChart label={`${texts.overview.chart} ${described.join(', ') || texts.none}`} bars={bars} />
      <figcaption class="soft">{texts.overview.chart}</figcaption>
    </figure>
  );
};
