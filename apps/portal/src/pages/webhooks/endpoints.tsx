import { readFileSync } from 'node:fs';
import type { ComponentChildren } from 'preact';
import type {
  CreatedWebhookEndpoint,
  RotatedWebhookEndpoint,
  WebhookEndpoint,
} from '@reading-service/client';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { projectPath } from '#platform/project-path.js';
import { ListWebhookEndpoints, NOTICE_TYPES, PUBLIC_EVENT_TYPES } from '#webhooks/contracts/index.js';
import { refusedField } from '../../frame/api.js';
import { Checks, Choice, Lines, PostForm, Text } from '../../frame/forms.js';
import { type Page, usePortal, useVisit, type Form } from '../../frame/page.js';
import {
  EndpointAddress,
  Facts,
  Lead,
  Pager,
  Secret,
  Section,
  State,
  Table,
  Time,
} from '../../frame/parts.js';
import { EndpointLink, endpointPage, endpointPath, stateOf } from './endpoint.js';

/** As docs/webhooks.md shows them; `test/webhooks-docs` runs them. */
const SNIPPETS = [
  ['Node', 'verify.mjs'],
  ['Python', 'verify.py'],
  ['PHP', 'verify.php'],
].map(([language, file]) => ({
  language: language!,
  code: readFileSync(projectPath('apps/portal/assets/verify', file!), 'utf8').trimEnd(),
}));

/** A signing secret that this answer alone shows, and how a receiver verifies with it, in each language. */
const NewSecret = ({
  secret,
  lost,
  href,
  children,
}: {
  readonly secret: string | undefined;
  /** In place of a secret that was shown before. */
  readonly lost: string;
  /** The page of the endpoint. */
  readonly href: string;
  readonly children?: ComponentChildren;
}) => {
  const { texts } = useVisit();
  return (
    <>
      {secret === undefined ? (
        <p class="refusal">{lost}</p>
      ) : (
        <Secret label={texts.newEndpoint.secret} value={secret} />
      )}
      {children}
      <Lead to={href} text={texts.newEndpoint.toEndpoint} />
      <Section title={texts.newEndpoint.verify}>
        <p>{texts.newEndpoint.verifyHint}</p>
        {SNIPPETS.map(({ language, code }, at) => (
          <details open={at === 0}>
            <summary>{language}</summary>
            <pre tabIndex={0} data-copy>
              <code>{code}</code>
            </pre>
          </details>
        ))}
      </Section>
    </>
  );
};

const LIVE = 'live';
const BOTH = 'both';

/** Each line as a name and a value. A name without a value removes the header; for a new endpoint, the API refuses it. */
const headersOf = (lines: readonly string[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim() || null];
    }),
  );

/** The settings of an endpoint in a form, as the API takes them. Empty headers are not sent: they stay as they are. */
export const settingsOf = (form: Form): Readonly<Record<string, unknown>> => {
  const headers = form.lines('headers');
  const modes = form.text('modes');
  const url = form.optional('url');
  return {
    // A session that may not choose it has no field for it.
    ...(url !== undefined && { url }),
    events: form.all('events'),
    notices: form.all('notices'),
    description: form.optional('description') ?? null,
    maxPerSecond: form.number('maxPerSecond') ?? null,
    ...(headers.length > 0 && { headers: headersOf(headers) }),
    ...(modes !== '' && { modes: modes === BOTH ? ['live', 'test'] : [modes] }),
  };
};

/** The fields of an endpoint, as it is or as a new one begins. */
const EndpointFields = ({ endpoint }: { readonly endpoint?: WebhookEndpoint }) => {
  const { texts, may, session } = usePortal();
  const { webhooks, eventTypes } = texts;
  const chosenModes = endpoint?.modes.length === 2 ? BOTH : LIVE;
  return (
    <>
      {may(PERSONS_SCOPE) && (
        <Text
          name="url"
          type="url"
          label={webhooks.url}
          hint={webhooks.urlHint}
          value={endpoint?.url ?? ''}
          required
        />
      )}
      <Text name="description" label={webhooks.description} value={endpoint?.description ?? ''} />
      <Checks
        name="events"
        label={texts.areas.events}
        values={endpoint?.events ?? PUBLIC_EVENT_TYPES}
        options={PUBLIC_EVENT_TYPES.map((type) => [type, eventTypes[type]])}
      />
      <Checks
        name="notices"
        label={texts.settings.notices}
        hint={webhooks.noticesHint}
        values={endpoint?.notices ?? []}
        options={NOTICE_TYPES.map((type) => [type, eventTypes[type]])}
      />
      {session.mode === 'live' && (
        <Choice
          name="modes"
          label={texts.areas.readings}
          value={chosenModes}
          options={[
            [LIVE, webhooks.modesLive],
            [BOTH, webhooks.modesBoth],
          ]}
        />
      )}
      <Lines
        name="headers"
        label={webhooks.headers}
        hint={endpoint ? `${webhooks.headersHint} ${webhooks.headersKept}` : webhooks.headersHint}
      />
      {endpoint && endpoint.headerNames.length > 0 && (
        <p class="field">
          <span class="hint">{texts.pair(webhooks.headersBefore, endpoint.headerNames.join(', '))}</span>
          <label class="check">
            <input type="checkbox" name="dropHeaders" value="yes" />
            {webhooks.dropHeaders}
          </label>
        </p>
      )}
      <Text
        name="maxPerSecond"
        type="number"
        label={webhooks.maxPerSecond}
        hint={webhooks.maxPerSecondHint}
        value={String(endpoint?.maxPerSecond ?? '')}
      />
    </>
  );
};

const ROWS = 25;

export const endpointsPage: Page = {
  path: '/webhooks',
  area: 'webhooks',
  needs: 'webhooks:read',
  show: async ({ api, may, texts, query }) => {
    const { webhooks } = texts;
    const { data, nextCursor } = await api.get<{
      readonly data: readonly WebhookEndpoint[];
      readonly nextCursor: string | null;
    }>('/webhooks', { limit: ROWS, cursor: query.get('cursor') ?? '' });
    return {
      title: texts.areas.webhooks,
      body: (
        <>
          {may('webhooks:write') && may(PERSONS_SCOPE) && (
            <Lead to="/portal/webhooks/new" text={webhooks.create} />
          )}
          <Table
            caption={webhooks.caption}
            rows={data}
            empty={webhooks.empty}
            columns={[
              [
                texts.overview.endpoint,
                ({ endpointId, url, description }) => (
                  <>
                    <EndpointAddress endpointId={endpointId} url={url} />
                    {description && (
                      <div class="soft" dir="auto">
                        {description}
                      </div>
                    )}
                  </>
                ),
              ],
              [texts.readings.status, (one) => <State of={stateOf(one)} />],
              [texts.areas.events, ({ events }) => events.length, 'number'],
              [webhooks.created, ({ createdAt }) => <Time at={createdAt} />],
            ]}
          />
          <Pager next={nextCursor} />
        </>
      ),
    };
  },
};

export const newEndpointPage: Page = {
  path: '/webhooks/new',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit) => ({
    title: visit.texts.webhooks.create,
    body: (
      <PostForm action="create" submit={visit.texts.webhooks.create}>
        <EndpointFields />
      </PostForm>
    ),
  }),
  actions: {
    create: async (visit, form) => {
      const { newEndpoint } = visit.texts;
      const created = await visit.api.post<CreatedWebhookEndpoint>('/webhooks', settingsOf(form), form.key);
      const { endpointId, signingSecret } = created;
      return {
        title: newEndpoint.done,
        body: (
          <NewSecret
            secret={signingSecret}
            lost={newEndpoint.secretLost}
            href={`/portal/webhooks/${endpointId}`}
          />
        ),
      };
    },
  },
};

export const editEndpointPage: Page = {
  path: '/webhooks/:endpointId/edit',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit, failed) => {
    const { editEndpoint, settings } = visit.texts;
    const { found: endpoint, etag } = await visit.api.tagged<WebhookEndpoint>(endpointPath(visit));
    const { host } = new URL(endpoint.url);
    const isTold = failed?.refused.problem.status === 412;
    return {
      title: editEndpoint.title,
      body: (
        <>
          <EndpointLink to={endpoint} />
          <PostForm action="save" submit={settings.save}>
            {/* Still that of what the person saw, until the page has said that somebody changed it since. */}
            <input type="hidden" name="etag" value={(!isTold && failed?.form.text('etag')) || etag} />
            <EndpointFields endpoint={endpoint} />
          </PostForm>
          <Section title={editEndpoint.remove}>
            <p>{editEndpoint.removeHint}</p>
            <PostForm action="remove" submit={editEndpoint.remove} isGrave>
              <Text name="confirm" label={editEndpoint.removeConfirm(host)} required />
            </PostForm>
          </Section>
        </>
      ),
    };
  },
  actions: {
    save: async (visit, form) => {
      const drops = form.text('dropHeaders') === 'yes';
      const changes = { ...settingsOf(form), ...(drops && { headers: null }) };
      await visit.api.patch(endpointPath(visit), changes, form.text('etag'));
      return { goTo: endpointPage(visit), done: 'endpointSaved' };
    },
    remove: async (visit, form) => {
      const { url } = await visit.api.get<WebhookEndpoint>(endpointPath(visit));
      if (form.text('confirm').toLowerCase() !== new URL(url).host)
        throw refusedField('/confirm', 'unconfirmed');
      await visit.api.delete(endpointPath(visit));
      return { goTo: '/portal/webhooks', done: 'endpointDeleted' };
    },
  },
};

const OVERLAPS = ['0', '3600', '86400', '604800'] as const;
const A_DAY = '86400';

export const secretPage: Page = {
  path: '/webhooks/:endpointId/secret',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit) => {
    const { texts, api, queries, session } = visit;
    const { secretPage: said, endpoint } = texts;
    const one = await api.get<WebhookEndpoint>(endpointPath(visit));
    const [queue] = await queries.execute(new ListWebhookEndpoints(session.workspaceId, one.endpointId));
    return {
      title: said.title,
      body: (
        <>
          <EndpointLink to={one} />
          <Facts of={[[endpoint.secret, endpoint.secretEnds(one.secretHint)]]} />
          <Overlap until={queue?.oldSecretsValidUntil ?? null} />
          <p>{said.hint}</p>
          <PostForm action="rotate" submit={said.submit}>
            <Choice
              name="overlapSeconds"
              label={said.overlap}
              value={A_DAY}
              options={OVERLAPS.map((seconds) => [seconds, texts.overlaps[seconds]])}
            />
          </PostForm>
        </>
      ),
    };
  },
  actions: {
    rotate: async (visit, form) => {
      const { texts, api } = visit;
      const { signingSecret, previousValidUntil } = await api.post<RotatedWebhookEndpoint>(
        `${endpointPath(visit)}/rotate-secret`,
        { overlapSeconds: form.number('overlapSeconds') },
        form.key,
      );
      return {
        title: texts.secretPage.title,
        body: (
          <NewSecret secret={signingSecret} lost={texts.secretPage.lost} href={endpointPage(visit)}>
            <Overlap until={previousValidUntil} />
          </NewSecret>
        ),
      };
    },
  },
};

/** How long the old secret still signs. */
const Overlap = ({ until }: { readonly until: string | null }) => {
  const { texts, formats } = useVisit();
  if (until === null || Date.parse(until) <= Date.now()) return <p class="empty">{texts.secretPage.alone}</p>;
  return (
    <p class="done">
      <time dateTime={until} title={formats.utc(until)}>
        {texts.secretPage.clock(formats.time(until), formats.left(until))}
      </time>
    </p>
  );
};
