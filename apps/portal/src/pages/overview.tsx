import type { Credits, ReadingPage, WebhookEndpoint } from '@reading-service/client';
import { allEndpoints, unlessAway } from '../frame/api.js';
import { Away, Count, EndpointAddress, Facts, Section, State, Table } from '../frame/parts.js';
import type { Page, Visit } from '../frame/page.js';
import { DaysChart, readingsByDay, ReadingsTable } from './readings.js';

const LATEST = 5;

const look = async (visit: Visit) => {
  const { api, may, lateAfterMs } = visit;
  const late = (status: string) =>
    api.get<ReadingPage>('/readings', {
      limit: LATEST,
      status,
      createdUntil: new Date(Date.now() - lateAfterMs).toISOString(),
    });
  const [credits, readings, endpoints, days, ...slow] = await Promise.all([
    may('credits:read') ? unlessAway(api.get<Credits>('/credits')) : undefined,
    may('readings:read') ? api.get<ReadingPage>('/readings', { limit: LATEST }) : null,
    may('webhooks:read') ? allEndpoints(api) : null,
    may('readings:read') ? readingsByDay(visit) : null,
    ...(may('readings:read') ? [late('queued'), late('processing')] : []),
  ]);
  return { credits, readings, endpoints, days, slow: slow.flatMap(({ data }) => data) };
};

/** What a person has paused needs nobody. */
const needsCare = ({ health }: WebhookEndpoint): boolean =>
  health.state !== 'ok' && health.disabledReason !== 'requested';

export const overviewPage: Page = {
  path: '',
  area: 'overview',
  show: async (visit) => {
    const { overview } = visit.texts;
    const { credits, readings, endpoints, days, slow } = await look(visit);
    const unwell = endpoints?.data.filter(needsCare) ?? [];
    const isNew = readings?.data.length === 0;
    return {
      title: overview.title,
      body: (
        <>
          {isNew && <FirstSteps visit={visit} />}
          {credits !== undefined && (
            <Section title={visit.texts.areas.credits}>
              {credits ? <CreditFacts visit={visit} credits={credits} /> : <Away />}
            </Section>
          )}
          {slow.length > 0 && (
            <Section title={overview.late}>
              <ReadingsTable caption={overview.late} rows={slow} />
            </Section>
          )}
          {endpoints && (
            <Section title={overview.failing}>
              <Table
                caption={overview.failing}
                rows={unwell}
                empty={endpoints.data.length === 0 ? overview.noEndpoint : overview.allWell}
                columns={[
                  [overview.endpoint, EndpointAddress],
                  [visit.texts.readings.status, ({ health }) => <State of={health.state} />],
                ]}
              />
            </Section>
          )}
          {readings && days && !isNew && (
            <Section title={overview.latest}>
              <DaysChart visit={visit} days={days} />
              <ReadingsTable caption={overview.latest} rows={readings.data} />
            </Section>
          )}
        </>
      ),
    };
  },
};

const CreditFacts = ({ visit, credits }: { readonly visit: Visit; readonly credits: Credits }) => {
  const { texts, formats } = visit;
  const { overview } = texts;
  const next = credits.grants.find(({ expiresAt }) => expiresAt !== null);
  return (
    <Facts
      of={[
        [overview.available, <Count of={credits.available} />],
        [overview.reserved, <Count of={credits.reserved} />],
        [
          overview.nextExpiry,
          next?.expiresAt
            ? overview.expiry(formats.number(next.remaining), formats.day(next.expiresAt))
            : texts.noDate,
        ],
      ]}
    />
  );
};

/** What to do first, and the scope for it. */
const STEPS = [
  { path: 'keys', text: 'stepKey', scope: 'keys:write' },
  { path: 'readings/new', text: 'stepOrder', scope: 'readings:write' },
  { path: 'webhooks/new', text: 'stepWebhook', scope: 'webhooks:write' },
] as const;

const FirstSteps = ({ visit: { texts, may } }: { readonly visit: Visit }) => (
  <Section title={texts.overview.firstSteps}>
    <ol>
      {STEPS.map(({ path, text, scope }) => (
        <li>{may(scope) ? <a href={`/portal/${path}`}>{texts.overview[text]}</a> : texts.overview[text]}</li>
      ))}
    </ol>
    <p>
      <a href="/docs">{texts.overview.guide}</a>
    </p>
  </Section>
);
