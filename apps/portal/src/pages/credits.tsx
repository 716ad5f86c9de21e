import type { Credits } from '@reading-service/client';
import { READING_COST } from '#billing/contracts/index.js';
import { GetWorkspace } from '#workspaces/contracts/index.js';
import { unlessAway } from '../frame/api.js';
import type { Page, Visit } from '../frame/page.js';
import { Count, Facts, Section, Table, Time } from '../frame/parts.js';
import { named } from '../texts/texts.js';
import { readingsByDay } from './readings.js';

/** Months whose statements the page offers. */
const MONTHS = 12;

/** `yyyy-mm`, the newest first, from the one in which the workspace was opened. */
const lastMonths = (openedAt: string): readonly string[] => {
  const now = new Date();
  const months = Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
  return months.filter((month) => month >= openedAt.slice(0, 7));
};

export const creditsPage: Page = {
  path: '/credits',
  area: 'credits',
  needs: 'credits:read',
  show: async (visit) => {
    const { texts, formats, api, queries, session } = visit;
    const [credits, days, workspace] = await Promise.all([
      api.get<Credits>('/credits'),
      readingsByDay(visit),
      session.mode === 'live' ? unlessAway(queries.execute(new GetWorkspace(session.workspaceId))) : null,
    ]);
    return {
      title: texts.areas.credits,
      body: (
        <>
          <Facts
            of={[
              [texts.overview.available, <Count of={credits.available} />],
              [texts.overview.reserved, <Count of={credits.reserved} />],
              [texts.credits.forecast, forecast(visit, credits.available, days)],
            ]}
          />
          <Section title={texts.credits.grants}>
            <Table
              caption={texts.credits.grantsCaption}
              rows={credits.grants}
              empty={texts.credits.noGrants}
              columns={[
                [texts.credits.kind, ({ kind }) => named(texts.credits.kinds, kind)],
                [texts.credits.granted, (grant) => <Count of={grant.credits} />, 'number'],
                [texts.credits.left, ({ remaining }) => <Count of={remaining} />, 'number'],
                [texts.reading.expires, ({ expiresAt }) => <Time at={expiresAt} />],
              ]}
            />
          </Section>
          {session.mode === 'live' && (
            <Section title={texts.credits.statements}>
              <ul class="actions">
                {lastMonths(workspace?.openedAt ?? '').map((month) => (
                  <li>
                    <a href={`/portal/credits/statements/${month}`}>{formats.month(month)}</a>
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </>
      ),
    };
  },
};

/** When the credits run out if the readings of the last days go on. */
const forecast = (
  { texts, formats }: Visit,
  available: number,
  days: readonly { readonly readings: number }[],
): string => {
  const spent = days.reduce((sum, { readings }) => sum + readings, 0) * READING_COST;
  if (spent === 0) return texts.credits.noForecast;
  const left = Math.floor(available / (spent / days.length));
  return available < READING_COST ? texts.credits.tooFew : texts.credits.lasts(formats.days(left));
};
