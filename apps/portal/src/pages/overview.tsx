import type { Credits, ReadingPage, WebhookEndpoint } from '@reading-service/client';
import { allEndpoints } from '../frame/api.js';
import { Count, EndpointAddress, Facts, Lead, Section, State, Table } from '../frame/parts.js';
import { type Page, type Visit, usePortal, useVisit } from '../frame/page.js';
import { DaysChart, readingsByDay, ReadingsTable } from './readings.js';

const LATEST = 5;

const look = async (visit: Visit) => {
  const { api, may } = visit;
  const [credits, readings, endpoints, days] = await Promise.all([
    may('credits:read') ? api.get<Credits>('/credits') : null,
    may('readings:read') ? api.get<ReadingPage>('/readings', { limit: LATEST }) : null,
    may('webhooks:read') ? allEndpoints(api) : null,
    may('readings:read') ? readingsByDay(visit) : null,
  ]);
  return { credits, readings, endpoints, days };
};

/** What a person has paused needs nobody. */
const needsCare = ({ health }: WebhookEndpoint): boolean =>
  health.state !== 'ok' && health.disabledReason !== 'requested';

export const overviewPage: Page = {
  path: '',
  area: 'overview',
  show: async (visit) => {
    const { overview } = visit.texts;
    const { credits, readings, endpoints, days } = await look(visit);
    const unwell = endpoints?.data.filter(needsCare) ?? [];
    const isNew = readings?.data.length === 0;
    return {
      title: visit.texts.areas.overview,
      body: (
        <>
          {isNew && <FirstSteps />}
          {credits && (
            <Section title={visit.texts.areas.credits}>
              <CreditFacts credits={credits} />
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
              <DaysChart days={days} />
              <ReadingsTable caption={overview.latest} rows={readings.data} />
            </Section>
          )}
        </>
      ),
    };
  },
};

const CreditFacts = ({ credits }: { readonly credits: Credits }) => {
  const { texts, formats } = useVisit();
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

const FirstSteps = () => {
  const { texts, may } = usePortal();
  return (
    <Section title={texts.overview.firstSteps}>
      <ol>
        {STEPS.map(({ path, text, scope }) => (
          <li>
            {may(scope) ? <a href={`/portal/${path}`}>{texts.overview[text]}</a> : texts.overview[text]}
          </li>
        ))}
      </ol>
      <Lead to="/docs" text={texts.overview.guide} />
    </Section>
  );
};
