import type { CreateReading, Reading, ReadingPage, ReadingSummary } from '@reading-service/client';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { CountReadings, type ReadingsOfDay } from '#readings/contracts/index.js';
import { Choice, Filters, PostForm, Text } from '../frame/forms.js';
import { type Page, type Visit, usePortal, useVisit, type Form, instantOf } from '../frame/page.js';
import { BarChart, Lead, Pager, State, Table, Time } from '../frame/parts.js';

/** A reading that something is about: a link for a session that may see readings. */
export const ReadingLink = ({
  of,
  isShort,
}: {
  readonly of: string | undefined;
  readonly isShort?: true;
}) => {
  const { texts, may } = usePortal();
  if (of === undefined) return <span class="soft">{texts.none}</span>;
  const id = <code>{isShort ? of.slice(0, 8) : of}</code>;
  return may('readings:read') ? <a href={`/portal/readings/${of}`}>{id}</a> : id;
};

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
export const DaysChart = ({ days }: { readonly days: readonly ReadingsOfDay[] }) => {
  const { texts, formats } = useVisit();
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

/** Readings as every list of them shows them. */
export const ReadingsTable = ({
  caption,
  rows,
}: {
  readonly caption: string;
  readonly rows: readonly ReadingSummary[];
}) => {
  const { texts, formats, query } = useVisit();
  const { readings } = texts;
  return (
    <Table
      caption={caption}
      rows={rows}
      empty={query.size > 0 ? texts.nothingFound : readings.empty}
      columns={[
        [readings.id, ({ readingId }) => <ReadingLink of={readingId} />],
        [readings.status, (one) => <State of={one.erasedAt === null ? one.status : 'erased'} />],
        [readings.locale, ({ locale }) => texts.locales[locale]],
        [readings.created, ({ createdAt }) => <Time at={createdAt} />],
        [
          readings.document,
          ({ document: { version } }) =>
            version === null ? (
              <span class="soft">{texts.none}</span>
            ) : (
              readings.version(formats.number(version))
            ),
        ],
      ]}
    />
  );
};

const STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
const ROWS = 25;

/** An id of the customer's own can name a person: only who may see persons searches for one. */
const find = ({ api, query, may }: Visit): Promise<ReadingPage> =>
  api.get('/readings', {
    limit: ROWS,
    status: query.get('status') ?? '',
    externalId: may(PERSONS_SCOPE) ? (query.get('externalId') ?? '') : '',
    createdSince: instantOf(query.get('since') ?? ''),
    createdUntil: instantOf(query.get('until') ?? ''),
    cursor: query.get('cursor') ?? '',
  });

export const readingsPage: Page = {
  path: '/readings',
  area: 'readings',
  needs: 'readings:read',
  show: async (visit, failed) => {
    const { texts, query } = visit;
    const { data, nextCursor } = failed ? { data: [], nextCursor: null } : await find(visit);
    const statuses = STATUSES.map((status) => [status, texts.states[status]] as const);
    return {
      title: texts.areas.readings,
      body: (
        <>
          {visit.may('readings:write') && <Lead to="/portal/readings/new" text={texts.readings.order} />}
          <Filters>
            <Choice
              name="status"
              label={texts.readings.status}
              value={query.get('status') ?? ''}
              options={[['', texts.all], ...statuses]}
            />
            {visit.may(PERSONS_SCOPE) && (
              <Text
                name="externalId"
                label={texts.readings.externalId}
                value={query.get('externalId') ?? ''}
              />
            )}
            {(['since', 'until'] as const).map((name) => (
              <Text
                name={name}
                pointer={name === 'since' ? '?createdSince' : '?createdUntil'}
                type="datetime-local"
                label={texts.readings[name]}
                value={query.get(name) ?? ''}
              />
            ))}
          </Filters>
          <ReadingsTable caption={texts.readings.caption} rows={data} />
          <Pager next={nextCursor} />
        </>
      ),
    };
  },
};

const LOCALES = ['fr-FR', 'en-US'] as const;
const GENDERS = ['feminine', 'masculine', 'neutral'] as const;

const names = (form: Form, field: string): string[] =>
  form
    .text(field)
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

/** What the API takes. It checks all of it, and its pointers lead back to the fields. */
const bodyOf = (form: Form): CreateReading => ({
  productId: 'theme',
  profileId: 'evan',
  locale: form.text('locale') as CreateReading['locale'],
  name: {
    firstNames: names(form, 'firstNames'),
    middleNames: names(form, 'middleNames'),
    lastNames: names(form, 'lastNames'),
  },
  dateOfBirth: form.text('dateOfBirth'),
  grammaticalProfile: { subjectGender: form.text('gender') },
  externalId: form.optional('externalId') ?? null,
});

export const newReadingPage: Page = {
  path: '/readings/new',
  area: 'readings',
  needs: 'readings:write',
  show: async ({ texts, session }) => {
    const { newReading: said } = texts;
    return {
      title: texts.readings.order,
      body: (
        <>
          <p>{session.mode === 'live' ? said.live : said.test}</p>
          <PostForm action="order" submit={said.submit}>
            {(['firstNames', 'middleNames', 'lastNames'] as const).map((name) => (
              <Text
                name={name}
                pointer={`/name/${name}`}
                label={said[name]}
                hint={name === 'middleNames' ? said.optional : said.several}
                required={name !== 'middleNames'}
              />
            ))}
            <Text name="dateOfBirth" type="date" label={texts.reading.dateOfBirth} required />
            <Choice
              name="gender"
              pointer="/grammaticalProfile/subjectGender"
              label={texts.reading.gender}
              value="feminine"
              options={GENDERS.map((gender) => [gender, texts.genders[gender]])}
            />
            <Choice
              name="locale"
              label={texts.readings.locale}
              value={session.language === 'fr' ? 'fr-FR' : 'en-US'}
              options={LOCALES.map((locale) => [locale, texts.locales[locale]])}
            />
            <Text name="externalId" label={texts.readings.externalId} hint={said.optional} />
          </PostForm>
        </>
      ),
    };
  },
  actions: {
    order: async ({ api }, form) => {
      const { readingId } = await api.post<Reading>('/readings', bodyOf(form), form.key);
      return { goTo: `/portal/readings/${readingId}`, done: 'ordered' };
    },
  },
};
