import type { DocumentLink, Reading, ReadingHistoryPage } from '@reading-service/client';
import { refusedField } from '../frame/api.js';
import { Choice, PostForm, Text } from '../frame/forms.js';
import { type Download, type Page, type Visit, usePortal } from '../frame/page.js';
import { type Column, Count, Facts, Section, shownOnce, State, Table, Time } from '../frame/parts.js';
import { named } from '../texts/texts.js';

/** How the name of a file in each format ends. */
const ENDINGS = { pdf: 'pdf', markdown: 'md', document_v1: 'json' } as const;
const FORMATS = ['pdf', 'markdown', 'document_v1'] as const;
const LIFETIMES = ['3600', '86400', '604800', '2592000'] as const;

/** Every version of the document, and what makes another one. */
export const Documents = ({ reading }: { readonly reading: Reading }) => {
  const { texts, formats, may } = usePortal();
  const { readingId, document, status, erasedAt } = reading;
  const none = erasedAt !== null ? 'erased' : status === 'failed' ? 'failed' : 'underWay';
  if (!document.available || document.version === null)
    return <p class="empty">{texts.reading.noDocument[none]}</p>;
  const versions = Array.from({ length: document.version }, (_, at) => document.version! - at);
  return (
    <>
      {may('documents:read') ? (
        <Table
          caption={texts.reading.documents}
          rows={versions}
          empty={texts.none}
          columns={[
            [texts.readings.document, (version) => texts.readings.version(formats.number(version))],
            ...FORMATS.map((format): Column<number> => [
              texts.formats[format],
              (version: number) => (
                <a href={`/portal/readings/${readingId}/document?format=${format}&version=${version}`}>
                  {texts.reading.download}
                  <span class="hidden"> {texts.formats[format]}</span>
                </a>
              ),
            ]),
          ]}
        />
      ) : (
        <p class="soft">{texts.reading.documentsHidden}</p>
      )}
      {may('readings:write') && (
        <>
          <p class="hint">{texts.reading.republishHint}</p>
          <PostForm action="republish" submit={texts.reading.republish} />
        </>
      )}
    </>
  );
};

/** Links that need no key: those that exist, and a form for another. */
const DocumentLinks = ({ links }: { readonly links: readonly DocumentLink[] }) => {
  const { texts } = usePortal();
  const { reading } = texts;
  return (
    <>
      <Table
        caption={reading.links}
        rows={links}
        empty={reading.noLinks}
        columns={[
          [reading.format, ({ format }) => texts.formats[format]],
          [texts.readings.status, ({ status }) => <State of={status} label={reading.linkStates[status]} />],
          [reading.expires, ({ expiresAt }) => <Time at={expiresAt} />],
          [reading.uses, ({ uses }) => <Count of={uses} />, 'number'],
          [
            reading.revokeLink,
            ({ linkId, status }) =>
              status === 'live' && (
                <PostForm action="revokeLink" about={linkId} submit={reading.revokeLink} />
              ),
          ],
        ]}
      />
      <p class="hint">{reading.linkHint}</p>
      <PostForm action="link" submit={reading.createLink}>
        <Choice
          name="format"
          label={reading.format}
          value="pdf"
          options={FORMATS.map((format) => [format, texts.formats[format]])}
        />
        <Choice
          name="expiresInSeconds"
          label={reading.lifetime}
          value="86400"
          options={LIFETIMES.map((seconds) => [seconds, texts.lifetimes[seconds]])}
        />
      </PostForm>
    </>
  );
};

/** Seconds between two looks at a reading that is under way. */
const LOOK_AGAIN = 3;
/** More events than a reading ever has. */
const EVENTS = 100;
const LINKS = 100;
/** What a person types to erase a reading: the beginning of its id. */
const CONFIRMED = 8;

const routeOf = ({ params }: Pick<Visit, 'params'>): string =>
  `/readings/${encodeURIComponent(params['readingId']!)}`;

const look = async ({ api, may, params }: Visit) => {
  const path = routeOf({ params });
  // One after the other: an unknown reading is one refusal, not three.
  const reading = await api.get<Reading>(path);
  const [history, links] = await Promise.all([
    api.get<ReadingHistoryPage>(`${path}/events`, { limit: EVENTS }),
    may('documents:read') && reading.document.available
      ? api.get<{ data: readonly DocumentLink[] }>(`${path}/document/links`, { limit: LINKS })
      : null,
  ]);
  return { reading, history: history.data, links: links?.data ?? null };
};

const isUnderWay = ({ status, document, erasedAt }: Reading): boolean =>
  erasedAt === null && status !== 'failed' && !(status === 'completed' && document.available);

const endOf = ({ status }: Reading): 'completed' | 'failed' | 'underWay' =>
  status === 'completed' || status === 'failed' ? status : 'underWay';

export const readingPage: Page = {
  path: '/readings/:readingId',
  area: 'readings',
  needs: 'readings:read',
  show: async (visit, failed) => {
    const { texts, may } = visit;
    const { reading, history, links } = await look(visit);
    const underWay = isUnderWay(reading);
    return {
      title: texts.reading.title(reading.readingId.slice(0, CONFIRMED)),
      refreshSeconds: underWay && !failed ? LOOK_AGAIN : undefined,
      body: (
        <>
          {underWay && <p class="empty">{texts.reading.underWay}</p>}
          <ReadingFacts reading={reading} />
          <Person reading={reading} />
          <Section title={texts.reading.documents}>
            <Documents reading={reading} />
          </Section>
          {links && (
            <Section title={texts.reading.links}>
              <DocumentLinks links={links} />
            </Section>
          )}
          <Section title={texts.reading.timeline}>
            <Timeline history={history} />
          </Section>
          {may('erasure') && reading.erasedAt === null && (
            <Section title={texts.reading.erase}>
              <p>
                {texts.reading.eraseHint} {texts.reading.eraseCost[endOf(reading)]}
              </p>
              <PostForm action="erase" submit={texts.reading.erase} isGrave>
                <Text
                  name="confirm"
                  label={texts.reading.eraseConfirm(reading.readingId.slice(0, CONFIRMED))}
                  required
                />
              </PostForm>
            </Section>
          )}
        </>
      ),
    };
  },
  actions: {
    republish: async ({ api, path, params }, form) => {
      await api.post(`${routeOf({ params })}/document/republish`, {}, form.key);
      return { goTo: path, done: 'republishing' };
    },
    link: async (visit, form) => {
      const body = { format: form.text('format'), expiresInSeconds: form.number('expiresInSeconds') };
      const { url } = await visit.api.post<{ url?: string }>(
        `${routeOf(visit)}/document/links`,
        body,
        form.key,
      );
      return shownOnce(visit, visit.texts.reading.links, visit.texts.reading.newLink, url);
    },
    revokeLink: async ({ api, path, params }, form) => {
      const linkId = encodeURIComponent(form.text('about'));
      await api.delete(`${routeOf({ params })}/document/links/${linkId}`);
      return { goTo: path, done: 'linkEnded' };
    },
    erase: async ({ api, path, params }, form) => {
      const readingId = params['readingId']!;
      if (form.text('confirm').toLowerCase() !== readingId.slice(0, CONFIRMED).toLowerCase())
        throw refusedField('/confirm', 'unconfirmed');
      await api.delete(`${routeOf({ params })}/personal-data`);
      return { goTo: path, done: 'erased' };
    },
  },
};

/** Gives a document to somebody who may read it. */
export const documentPage: Page = {
  path: '/readings/:readingId/document',
  area: 'readings',
  needs: 'documents:read',
  show: async ({ api, params, query }): Promise<Download> => {
    const [format, version] = [query.get('format') ?? '', query.get('version')];
    const search = new URLSearchParams({ format, ...(version && { version }) });
    const file = await api.file(`${routeOf({ params })}/document?${search}`);
    const ending = FORMATS.find((one) => one === format);
    return { ...file, fileName: `reading-${params['readingId']!}.${ending ? ENDINGS[ending] : 'bin'}` };
  },
};

const ReadingFacts = ({ reading }: { readonly reading: Reading }) => {
  const { texts, formats } = usePortal();
  return (
    <Facts
      of={[
        [texts.readings.id, <code>{reading.readingId}</code>],
        [texts.readings.status, <State of={reading.erasedAt === null ? reading.status : 'erased'} />],
        reading.error && [texts.states.failed, named(texts.failures, reading.error.code)],
        [texts.readings.locale, texts.locales[reading.locale]],
        [texts.readings.created, <Time at={reading.createdAt} />],
        [texts.states.completed, <Time at={reading.completedAt} />],
        [
          texts.readings.document,
          reading.document.version === null
            ? texts.none
            : texts.readings.version(formats.number(reading.document.version)),
        ],
      ]}
    />
  );
};

/** Names stand apart from the text around them, whatever direction their letters have. */
const Person = ({ reading }: { readonly reading: Reading }) => {
  const { texts, formats, may } = usePortal();
  if (reading.erasedAt !== null) return null;
  const { input, externalId } = reading;
  return (
    <Section title={texts.reading.person}>
      {may('persons:read') && input ? (
        <Facts
          of={[
            [texts.reading.name, <bdi>{input.displayName}</bdi>],
            [
              texts.reading.dateOfBirth,
              <time dateTime={input.dateOfBirth}>{formats.date(input.dateOfBirth)}</time>,
            ],
            [texts.reading.gender, named(texts.genders, input.grammaticalProfile.subjectGender)],
            [texts.readings.externalId, <bdi>{externalId ?? texts.none}</bdi>],
          ]}
        />
      ) : (
        <p class="soft">{texts.reading.personHidden}</p>
      )}
    </Section>
  );
};

const Timeline = ({ history }: { readonly history: ReadingHistoryPage['data'] }) => {
  const { texts, formats } = usePortal();
  const { reading } = texts;
  const detailOf = ({ cost, attempt, code }: (typeof history)[number]['data']): string =>
    [
      cost !== undefined && reading.cost(formats.number(cost)),
      attempt !== undefined && reading.attempt(formats.number(attempt)),
      code !== undefined && named(texts.failures, code),
    ]
      .filter(Boolean)
      .join(', ');
  return (
    <Table
      caption={reading.timeline}
      rows={history}
      empty={texts.none}
      columns={[
        [reading.event, ({ type }) => named({ ...texts.states, ...texts.history }, type)],
        [reading.when, ({ occurredAt }) => <Time at={occurredAt} />],
        [reading.detail, ({ data }) => detailOf(data)],
      ]}
    />
  );
};
