import {
  ListNewestEvents,
  NOTICE_TYPES,
  PUBLIC_EVENT_TYPES,
  isNotice,
  type DeliveredType,
} from '#webhooks/contracts/index.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { Body, Facts, Pager, Section, Table, Time } from '../frame/parts.js';
import { Choice, Filters } from '../frame/forms.js';
import { type Page, usePortal, type Visit } from '../frame/page.js';
import { named } from '../texts/texts.js';
import { ReadingLink } from './readings.js';

/** An event, to be looked at by a session that may see events. */
export const EventLink = ({ of }: { readonly of: string }) =>
  usePortal().may('events:read') ? (
    <a href={`/portal/events/${of}`}>
      <code>{of}</code>
    </a>
  ) : (
    <code>{of}</code>
  );

const ROWS = 25;
const ALL_NOTICES = 'notices';

/** The members that a list shows. */
interface Told {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly readingId?: string;
}

const isType = (text: string): text is DeliveredType =>
  isNotice(text) || (PUBLIC_EVENT_TYPES as readonly string[]).includes(text);

const chosen = (type: string): readonly DeliveredType[] => {
  if (type === ALL_NOTICES) return NOTICE_TYPES;
  return isType(type) ? [type] : PUBLIC_EVENT_TYPES;
};

const find = async ({ api, queries, session, query }: Visit) => {
  // Takes a token of the rate limit and leaves a record, as the newest events have no route.
  await api.get('/events', { limit: 1 });
  const cursor = query.get('cursor') ?? '';
  const found = await queries.execute(
    new ListNewestEvents(
      session.workspaceId,
      session.mode,
      chosen(query.get('type') ?? ''),
      ROWS + 1,
      /^\d{1,18}$/.test(cursor) ? cursor : null,
    ),
  );
  const page = found.slice(0, ROWS);
  return {
    rows: page.map(({ body }) => JSON.parse(body) as Told),
    next: found.length > ROWS ? (page.at(-1)?.position ?? null) : null,
  };
};

export const eventsPage: Page = {
  path: '/events',
  area: 'events',
  needs: 'events:read',
  show: async (visit) => {
    const { texts, query } = visit;
    const { events, eventTypes } = texts;
    const { rows, next } = await find(visit);
    const types = [...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES].map((type) => [type, eventTypes[type]] as const);
    return {
      title: texts.areas.events,
      body: (
        <>
          <p>{events.hint}</p>
          <Filters>
            <Choice
              name="type"
              label={texts.deliveries.type}
              value={query.get('type') ?? ''}
              options={[['', events.ofReadings], [ALL_NOTICES, texts.settings.notices], ...types]}
            />
          </Filters>
          <Table
            caption={events.caption}
            rows={rows}
            empty={query.size > 0 ? texts.nothingFound : events.empty}
            columns={[
              [texts.deliveries.type, ({ type }) => named(eventTypes, type)],
              [texts.reading.event, ({ id }) => <EventLink of={id} />],
              [texts.reading.when, ({ createdAt }) => <Time at={createdAt} />],
              [texts.readings.id, ({ readingId }) => <ReadingLink of={readingId} />],
            ]}
          />
          <Pager next={next} />
        </>
      ),
    };
  },
};

export const eventPage: Page = {
  path: '/events/:eventId',
  area: 'events',
  needs: 'events:read',
  show: async (visit) => {
    const { texts, api, params, may } = visit;
    const event = await api.get<Told>(`/events/${encodeURIComponent(params['eventId']!)}`);
    const { id, type, createdAt, readingId } = event;
    return {
      title: named(texts.eventTypes, type),
      body: (
        <>
          <Facts
            of={[
              [texts.reading.event, <code data-copy>{id}</code>],
              [texts.deliveries.type, <code>{type}</code>],
              [texts.reading.when, <Time at={createdAt} />],
              [texts.readings.id, <ReadingLink of={readingId} />],
            ]}
          />
          <Section title={texts.delivery.body}>
            <Body text={JSON.stringify(event)} hides={'externalId' in event && !may(PERSONS_SCOPE)} />
          </Section>
        </>
      ),
    };
  },
};
