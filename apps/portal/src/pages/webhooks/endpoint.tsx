import type { Delivery, DeliveryPage, WebhookEndpoint, WebhookEndpointStats } from '@reading-service/client';
import {
  DELIVERY_STATUSES,
  type EndpointHealth,
  ListWebhookEndpoints,
  NOTICE_TYPES,
  PUBLIC_EVENT_TYPES,
} from '#webhooks/contracts/index.js';
import { areFilters, Choice, Filters, PostForm, Text } from '../../frame/forms.js';
import { type Failed, type GoTo, type Page, type Visit, usePortal, useVisit } from '../../frame/page.js';
import { BarChart, Count, Facts, Pager, Section, State, Table, Time } from '../../frame/parts.js';
import { named } from '../../texts/texts.js';

/** When waiting deliveries are tried next. While an endpoint gets probes alone, their own time may have passed. */
export const NextAttempt = ({ at, of }: { readonly at: string | null; readonly of: WebhookEndpoint }) => {
  const { deliveries } = useVisit().texts;
  if (at === null || Date.parse(at) > Date.now()) return <Time at={at} />;
  return (
    <span class="soft">{of.health.state === 'unverified' ? deliveries.afterProbe : deliveries.inTurn}</span>
  );
};

/** How an attempt ended: the status of the answer, or why there is none. */
export const AttemptOutcome = ({
  of,
  mayCome = false,
}: {
  /** There may be one later. */
  readonly mayCome?: boolean;
  readonly of: { readonly statusCode: number | null; readonly error: string | null } | null;
}) => {
  const { texts } = useVisit();
  if (of === null)
    return <span class="soft">{mayCome ? texts.deliveries.noAnswer : texts.deliveries.neverAnswered}</span>;
  const { statusCode, error } = of;
  const said = error === null ? texts.states.succeeded : named(texts.attemptErrors, error);
  return (
    <span class={error === null ? 'good' : 'bad'}>
      {statusCode === null ? said : `${statusCode} · ${said}`}
    </span>
  );
};

const ROWS = 25;
const UNDELIVERED = 'undelivered';

const findDeliveries = ({ api, query }: Visit, endpointId: string): Promise<DeliveryPage> => {
  const status = query.get('status') ?? '';
  return api.get(`/webhooks/${encodeURIComponent(endpointId)}/deliveries`, {
    limit: ROWS,
    ...(status === UNDELIVERED ? { undelivered: 'true' } : { status }),
    type: query.get('type') ?? '',
    readingId: query.get('readingId') ?? '',
    cursor: query.get('cursor') ?? '',
  });
};

/** The deliveries of an endpoint, with filters. */
const Deliveries = ({ endpointId, page }: { readonly endpointId: string; readonly page: DeliveryPage }) => {
  const { texts, query } = useVisit();
  const { deliveries, states, eventTypes } = texts;
  return (
    <>
      <Filters>
        <Choice
          name="status"
          label={deliveries.status}
          value={query.get('status') ?? ''}
          options={[
            ['', texts.all],
            ...DELIVERY_STATUSES.map((status) => [status, states[status]] as const),
            [UNDELIVERED, deliveries.undelivered],
          ]}
        />
        <Choice
          name="type"
          id="filter-type"
          label={deliveries.type}
          value={query.get('type') ?? ''}
          options={[
            ['', texts.all],
            ...[...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES].map((type) => [type, eventTypes[type]] as const),
          ]}
        />
        <Text name="readingId" label={texts.readings.id} value={query.get('readingId') ?? ''} />
      </Filters>
      <Table
        caption={deliveries.caption}
        rows={page.data}
        empty={query.size > 0 ? texts.nothingFound : deliveries.empty}
        columns={[
          [
            texts.reading.event,
            ({ deliveryId, type }) => (
              <a href={`/portal/webhooks/${endpointId}/deliveries/${deliveryId}`}>
                {named(eventTypes, type)}
              </a>
            ),
          ],
          [deliveries.status, ({ status }) => <State of={status} />],
          [texts.delivery.attempts, ({ attempts }) => attempts, 'number'],
          [
            deliveries.last,
            ({ lastAttempt, status }) => <AttemptOutcome of={lastAttempt} mayCome={status === 'pending'} />,
          ],
          [texts.webhooks.created, ({ createdAt }) => <Time at={createdAt} />],
        ]}
      />
      <Pager next={page.nextCursor} />
    </>
  );
};

const HOUR_MS = 3_600_000;
const SHOWN_HOURS = 24;

interface Hour {
  readonly hour: string;
  readonly succeeded: number;
  readonly failed: number;
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
}

const NOTHING = { attempts: {}, latencyMs: null };

/** Every hour up to the last one, also those without an attempt. */
const hoursOf = ({ until, hours }: WebhookEndpointStats): readonly Hour[] => {
  const known = new Map(hours.map((one) => [Date.parse(one.hour), one]));
  const last = Math.floor((Date.parse(until) - 1) / HOUR_MS) * HOUR_MS;
  return Array.from({ length: SHOWN_HOURS }, (_, at) => {
    const hour = last - (SHOWN_HOURS - 1 - at) * HOUR_MS;
    const { attempts, latencyMs } = known.get(hour) ?? NOTHING;
    const all = Object.values<number>(attempts).reduce((sum, count) => sum + count, 0);
    const succeeded = (attempts as Readonly<Record<string, number>>)['succeeded'] ?? 0;
    return { hour: new Date(hour).toISOString(), succeeded, failed: all - succeeded, latencyMs };
  });
};

/** The attempts of the last 24 hours, as a chart and as a table. */
const Health = ({ stats }: { readonly stats: WebhookEndpointStats }) => {
  const { texts, formats } = useVisit();
  const { endpoint } = texts;
  const hours = hoursOf(stats);
  const sum = (of: 'succeeded' | 'failed') => hours.reduce((total, hour) => total + hour[of], 0);
  const [succeeded, failed] = [sum('succeeded'), sum('failed')];
  if (succeeded + failed === 0)
    return (
      <Section title={endpoint.health}>
        <p class="empty">{endpoint.noAttempts}</p>
      </Section>
    );
  const said = endpoint.chart(formats.number(succeeded), formats.number(failed));
  return (
    <Section title={endpoint.health}>
      <BarChart
        label={said}
        bars={hours.map((one) => ({
          label: endpoint.bar(
            formats.time(one.hour),
            formats.number(one.succeeded),
            formats.number(one.failed),
          ),
          values: [one.succeeded, one.failed],
        }))}
      />
      <p class="legend" aria-hidden="true">
        <span>{texts.pair(endpoint.succeeded, formats.number(succeeded))}</span>
        <span>{texts.pair(endpoint.failed, formats.number(failed))}</span>
      </p>
      <details>
        <summary>{endpoint.hours}</summary>
        <Table
          caption={endpoint.hours}
          rows={hours.filter((one) => one.succeeded + one.failed > 0)}
          empty={endpoint.noAttempts}
          columns={[
            [endpoint.hour, ({ hour }) => <Time at={hour} />],
            [endpoint.succeeded, (one) => <Count of={one.succeeded} />, 'number'],
            [endpoint.failed, (one) => <Count of={one.failed} />, 'number'],
            [endpoint.median, (one) => one.latencyMs?.p50 ?? '–', 'number'],
            [endpoint.p95, (one) => one.latencyMs?.p95 ?? '–', 'number'],
          ]}
        />
      </details>
    </Section>
  );
};

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
  const [stats, [queue], deliveries] = await Promise.all([
    api.get<WebhookEndpointStats>(`${endpointPath(visit)}/stats`),
    queries.execute(new ListWebhookEndpoints(session.workspaceId, endpointId)),
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
          <Condition endpoint={endpoint} />
          <EndpointFacts endpoint={endpoint} queue={queue} />
          {may('webhooks:write') && <EndpointActions endpoint={endpoint} />}
          <Health stats={stats} />
          <Section title={texts.deliveries.title}>
            <Deliveries endpointId={endpoint.endpointId} page={deliveries} />
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
const Condition = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const { texts, may } = usePortal();
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
  endpoint: one,
  queue,
}: {
  readonly endpoint: WebhookEndpoint;
  readonly queue: EndpointHealth | undefined;
}) => {
  const { texts, formats } = useVisit();
  const { webhooks, endpoint } = texts;
  const list = (types: readonly string[]) =>
    types.length === 0 ? texts.none : types.map((type) => named(texts.eventTypes, type)).join(', ');
  const [mode] = one.modes;
  return (
    <Facts
      of={[
        [texts.readings.status, <State of={stateOf(one)} />],
        one.health.failingSince !== null && [webhooks.since, <Time at={one.health.failingSince} />],
        [endpoint.failures, <Count of={one.health.consecutiveFailures} />],
        [endpoint.waiting, <Count of={queue?.pending ?? 0} />],
        [endpoint.nextAttempt, <NextAttempt at={queue?.nextAttemptAt ?? null} of={one} />],
        [endpoint.lastSuccess, <Time at={queue?.lastSuccessAt ?? null} none={texts.never} />],
        [webhooks.url, <code data-copy>{one.url}</code>],
        one.description !== null && [webhooks.description, <bdi>{one.description}</bdi>],
        [texts.areas.events, list(one.events)],
        [texts.settings.notices, list(one.notices)],
        [texts.areas.readings, one.modes.length > 1 ? webhooks.modesBoth : webhooks[MODES[mode ?? 'live']]],
        [webhooks.headers, one.headerNames.length === 0 ? texts.none : one.headerNames.join(', ')],
        [webhooks.maxPerSecond, one.maxPerSecond === null ? texts.noEnd : formats.number(one.maxPerSecond)],
        [endpoint.secret, endpoint.secretEnds(one.secretHint)],
        [webhooks.created, <Time at={one.createdAt} />],
      ]}
    />
  );
};

const EndpointActions = ({ endpoint: one }: { readonly endpoint: WebhookEndpoint }) => {
  const { texts, path } = useVisit();
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
            label={texts.reading.event}
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
