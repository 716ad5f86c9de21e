import type { Delivery, WebhookEndpoint, WebhookEndpointStats } from '@reading-service/client';
import { GetEndpointQueue, PUBLIC_EVENT_TYPES, type EndpointQueue } from '#webhooks/contracts/index.js';
import { Choice, PostForm, areFilters } from '../../frame/forms.js';
import type { Failed, GoTo, Page, Visit } from '../../frame/page.js';
import { Count, Facts, Section, State, Time } from '../../frame/parts.js';
import { named } from '../../texts/texts.js';
import { Deliveries, findDeliveries } from './deliveries.js';
import { Health } from './health.js';
import { NextAttempt } from './next-attempt.js';

/** Seconds between two looks at deliveries that are under way. */
const LOOK_AGAIN = 5;

/** The path of the API for the endpoint that a page is about. */
export const endpointPath = ({ params }: Visit): string =>
  `/webhooks/${encodeURIComponent(params['endpointId']!)}`;

/** The page of the endpoint. */
export const endpointPage = ({ params }: Visit): string =>
  `/portal/webhooks/${encodeURIComponent(params['endpointId']!)}`;

/** Of which endpoint a page is. */
export const EndpointLink = ({ to }: { readonly to: Pick<WebhookEndpoint, 'endpointId' | 'url'> }) => (
  <p>
    <a href={`/portal/webhooks/${to.endpointId}`}>{to.url}</a>
  </p>
);

/** `paused`: somebody has disabled it, not the service. */
export const stateOf = ({ health: { state, disabledReason } }: WebhookEndpoint): string =>
  disabledReason === 'requested' ? 'paused' : state;

const look = async (visit: Visit, failed?: Failed) => {
  const { api, queries, session, params } = visit;
  const endpointId = params['endpointId']!;
  // First: an unknown endpoint is one refusal, not three.
  const endpoint = await api.get<WebhookEndpoint>(endpointPath(visit));
  const [stats, queue, deliveries] = await Promise.all([
    api.get<WebhookEndpointStats>(`${endpointPath(visit)}/stats`),
    queries.execute(new GetEndpointQueue(session.workspaceId, endpointId)),
    areFilters(failed) ? { data: [], nextCursor: null } : findDeliveries(visit, endpointId),
  ]);
  return { endpoint, stats, queue, deliveries };
};

const setEnabled = async (visit: Visit, enabled: boolean): Promise<GoTo> => {
  const { skippedDeliveries } = await visit.api.patch<{ readonly skippedDeliveries?: number }>(
    endpointPath(visit),
    { enabled },
  );
  if (!enabled) return { goTo: visit.path, done: 'endpointPaused' };
  return skippedDeliveries
    ? { goTo: `${visit.path}/replay`, done: 'endpointSkipped' }
    : { goTo: visit.path, done: 'endpointResumed' };
};

export const oneEndpointPage: Page = {
  path: '/webhooks/:endpointId',
  area: 'webhooks',
  needs: 'webhooks:read',
  show: async (visit, failed) => {
    const { texts, may, query } = visit;
    const { endpoint, stats, queue, deliveries } = await look(visit, failed);
    const isUnderWay = deliveries.data.some(({ status, attempts }) => status === 'pending' && attempts === 0);
    return {
      title: new URL(endpoint.url).host,
      refreshSeconds: isUnderWay && endpoint.enabled && !failed && query.size === 0 ? LOOK_AGAIN : undefined,
      body: (
        <>
          <Condition visit={visit} endpoint={endpoint} />
          <EndpointFacts visit={visit} endpoint={endpoint} queue={queue} />
          {may('webhooks:write') && <EndpointActions visit={visit} endpoint={endpoint} />}
          <Health visit={visit} stats={stats} />
          <Section title={texts.deliveries.title}>
            <Deliveries visit={visit} endpointId={endpoint.endpointId} page={deliveries} />
          </Section>
        </>
      ),
    };
  },
  actions: {
    pause: (visit) => setEnabled(visit, false),
    resume: (visit) => setEnabled(visit, true),
    trial: async (visit, form) => {
      await visit.api.post<Delivery>(`${endpointPath(visit)}/test`, { type: form.text('type') }, form.key);
      return { goTo: visit.path, done: 'trialSent' };
    },
    verify: async (visit, form) => {
      await visit.api.post(`${endpointPath(visit)}/verify`, {}, form.key);
      return { goTo: visit.path, done: 'probing' };
    },
  },
};

/** What keeps an endpoint from receiving. */
const Condition = ({ visit: { texts, may }, endpoint }: { visit: Visit; endpoint: WebhookEndpoint }) => {
  const { state, disabledReason } = endpoint.health;
  if (state === 'failing') return <p class="refusal">{texts.endpoint.failing}</p>;
  if (state === 'disabled')
    return <p class="refusal">{texts.endpoint.disabled[disabledReason ?? 'requested']}</p>;
  if (state !== 'unverified') return null;
  return (
    <>
      <p class="refusal">{texts.endpoint.unverified}</p>
      {may('webhooks:write') && <PostForm action="verify" submit={texts.endpoint.verify} />}
    </>
  );
};

const MODES = { live: 'modesLive', test: 'modesTest' } as const;

const EndpointFacts = ({
  visit: { texts, formats },
  endpoint: one,
  queue,
}: {
  readonly visit: Visit;
  readonly endpoint: WebhookEndpoint;
  readonly queue: EndpointQueue | null;
}) => {
  const { webhooks, endpoint } = texts;
  const list = (types: readonly string[]) =>
    types.length === 0 ? texts.none : types.map((type) => named(texts.eventTypes, type)).join(', ');
  const [mode] = one.modes;
  return (
    <Facts
      of={[
        [webhooks.state, <State of={stateOf(one)} />],
        one.health.failingSince !== null && [webhooks.since, <Time at={one.health.failingSince} />],
        [endpoint.failures, <Count of={one.health.consecutiveFailures} />],
        [endpoint.waiting, <Count of={queue?.pending ?? 0} />],
        [endpoint.nextAttempt, <NextAttempt at={queue?.nextAttemptAt ?? null} of={one} />],
        [endpoint.lastSuccess, <Time at={queue?.lastSuccessAt ?? null} none={texts.never} />],
        [webhooks.url, <code data-copy>{one.url}</code>],
        one.description !== null && [webhooks.description, <bdi>{one.description}</bdi>],
        [webhooks.events, list(one.events)],
        [webhooks.notices, list(one.notices)],
        [webhooks.modes, one.modes.length > 1 ? webhooks.modesBoth : webhooks[MODES[mode ?? 'live']]],
        [webhooks.headers, one.headerNames.length === 0 ? texts.none : one.headerNames.join(', ')],
        [
          webhooks.maxPerSecond,
          one.maxPerSecond === null ? endpoint.noLimit : formats.number(one.maxPerSecond),
        ],
        [endpoint.secret, endpoint.secretEnds(one.secretHint)],
        [webhooks.created, <Time at={one.createdAt} />],
      ]}
    />
  );
};

const EndpointActions = ({
  visit: { texts, path },
  endpoint: one,
}: {
  visit: Visit;
  endpoint: WebhookEndpoint;
}) => {
  const { endpoint, eventTypes } = texts;
  return (
    <>
      <ul class="actions">
        {(['edit', 'secret', 'replay'] as const).map((page) => (
          <li>
            <a href={`${path}/${page}`}>{endpoint.pages[page]}</a>
          </li>
        ))}
      </ul>
      <div class="row">
        <PostForm action="trial" submit={endpoint.trial}>
          <Choice
            name="type"
            label={endpoint.trialType}
            hint={endpoint.trialHint}
            value="reading.completed"
            options={PUBLIC_EVENT_TYPES.map((type) => [type, eventTypes[type]])}
          />
        </PostForm>
        {one.enabled ? (
          <PostForm action="pause" submit={endpoint.pause} asks>
            <p class="hint">{endpoint.pauseHint}</p>
          </PostForm>
        ) : (
          <PostForm action="resume" submit={endpoint.resume}>
            <p class="hint">{endpoint.resumeHint}</p>
          </PostForm>
        )}
      </div>
    </>
  );
};
