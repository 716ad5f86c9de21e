import type {
  Delivery,
  DeliveryPage,
  WebhookEndpoint,
  WebhookEndpointStats,
  DeliveryHistory,
  Replay,
} from '@reading-service/client';
import {
  DELIVERY_STATUSES,
  type EndpointHealth,
  ListWebhookEndpoints,
  NOTICE_TYPES,
  PUBLIC_EVENT_TYPES,
  type AnsweredDelivery,
  FindAnsweredDelivery,
  FindToldEvent,
  type ToldEvent,
  REPLAYABLE_STATUSES,
  UNDELIVERED_STATUSES,
} from '#webhooks/contracts/index.js';
import { areFilters, Choice, Filters, PostForm, Text, Checks } from '../../frame/forms.js';
import {
  type Failed,
  type GoTo,
  type Page,
  type Visit,
  usePortal,
  useVisit,
  instantOf,
} from '../../frame/page.js';
import { BarChart, Count, Facts, Lead, Pager, Section, State, Table, Time, Body } from '../../frame/parts.js';
import { named } from '../../texts/texts.js';
import { PERSONS_SCOPE } from '#platform/auth/scopes.js';
import { printableLines } from '#platform/text/printable.js';
import { GetExternalId } from '#readings/contracts/index.js';
import { EventLink } from '../events.js';
import { ReadingLink } from '../readings.js';

/** When waiting deliveries are tried next. While an endpoint gets probes alone, their own time may have passed. */
export const NextAttempt = ({ at, of }: { readonly at: string | null; readonly of: WebhookEndpoint }) => {
  const { deliveries } = useVisit().texts;
  if (at === null || Date.parse(at) > Date.now()) return <Time at={at} />;
  return (
    <span class="soft">{of.health.state === 'unverified' ? deliveries.afterProbe : deliveries.inTurn}</span>
  );
};

/** How an attempt ended: the status of the answer, or why there is none. */
const AttemptOutcome = ({
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
          label={texts.readings.status}
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
          [texts.readings.status, ({ status }) => <State of={status} />],
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
  <Lead to={`/portal/webhooks/${to.endpointId}`} text={to.url} />
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

/**
 * The body that deliveries of an event carry. Its external id is personal: without the scope for persons, and of a trial in
 * the other mode, it is `null` here, as after an erasure.
 */
const toldBody = async (
  { body, readingId, showsExternalId }: ToldEvent,
  livemode: boolean,
  { queries, may, session }: Visit,
): Promise<Parameters<typeof Body>[0]> => {
  if (!showsExternalId || readingId === null) return { text: body, hides: false };
  const sees = may(PERSONS_SCOPE) && livemode === (session.mode === 'live');
  const externalId = sees ? await queries.execute(new GetExternalId(readingId)) : null;
  return { text: `${body.slice(0, -1)},"externalId":${JSON.stringify(externalId)}}`, hides: !sees };
};

const pathOf = (visit: Visit): string =>
  `${endpointPath(visit)}/deliveries/${encodeURIComponent(visit.params['deliveryId']!)}`;

export const deliveryPage: Page = {
  path: '/webhooks/:endpointId/deliveries/:deliveryId',
  area: 'webhooks',
  needs: 'webhooks:read',
  show: async (visit, failed) => {
    const { texts, may, api, queries, session } = visit;
    const delivery = await api.personal<DeliveryHistory>(pathOf(visit));
    const [endpoint, told, answered] = await Promise.all([
      api.get<WebhookEndpoint>(endpointPath(visit)),
      queries.execute(new FindToldEvent(session.workspaceId, session.mode, delivery.eventId)),
      // The API has let the session see this delivery. Answers may repeat what the receiver knows of a person.
      may(PERSONS_SCOPE) ? queries.execute(new FindAnsweredDelivery(delivery.deliveryId)) : null,
    ]);
    return {
      title: texts.pair(texts.delivery.title, named(texts.eventTypes, delivery.type)),
      refreshSeconds: delivery.status === 'pending' && !failed ? LOOK_AGAIN : undefined,
      body: (
        <>
          <EndpointLink to={endpoint} />
          <DeliveryFacts delivery={delivery} endpoint={endpoint} />
          {may('webhooks:write') && <PostForm action="redeliver" submit={texts.delivery.redeliver} />}
          <Section title={texts.delivery.attempts}>
            <Attempts delivery={delivery} />
            {delivery.history.some(({ error }) => error !== null) && <Answers of={answered} />}
          </Section>
          <Section title={texts.delivery.request}>
            <p>
              <code>{`POST ${endpoint.url}`}</code>
            </p>
            <h3>{texts.delivery.body}</h3>
            {told ? (
              <Body {...await toldBody(told, delivery.livemode, visit)} />
            ) : (
              <p class="empty">{texts.delivery.noBody}</p>
            )}
          </Section>
        </>
      ),
    };
  },
  actions: {
    redeliver: async (visit, form) => {
      const { deliveryId } = await visit.api.post<{ readonly deliveryId: string }>(
        `${pathOf(visit)}/redeliver`,
        {},
        form.key,
      );
      return { goTo: `${endpointPage(visit)}/deliveries/${deliveryId}`, done: 'redelivering' };
    },
  },
};

const markOf = ({ delivery: said }: Visit['texts'], delivery: DeliveryHistory): string => {
  if (delivery.test) return said.trial;
  if (delivery.replayId !== null) return said.replayed;
  return delivery.redelivery ? said.redelivery : said.first;
};

const DeliveryFacts = ({
  delivery,
  endpoint,
}: {
  readonly delivery: DeliveryHistory;
  readonly endpoint: WebhookEndpoint;
}) => {
  const { texts } = usePortal();
  return (
    <Facts
      of={[
        [texts.readings.status, <State of={delivery.status} />],
        [texts.delivery.mark, markOf(texts, delivery)],
        [texts.reading.event, <EventLink of={delivery.eventId} />],
        delivery.readingId !== null && [texts.readings.id, <ReadingLink of={delivery.readingId} />],
        [texts.webhooks.created, <Time at={delivery.createdAt} />],
        delivery.status === 'pending'
          ? [texts.endpoint.nextAttempt, <NextAttempt at={delivery.nextAttemptAt} of={endpoint} />]
          : [texts.delivery.settled, <Time at={delivery.settledAt} />],
      ]}
    />
  );
};

const Attempts = ({ delivery }: { readonly delivery: DeliveryHistory }) => {
  const { delivery: said } = useVisit().texts;
  return (
    <Table
      caption={said.attempts}
      rows={delivery.history}
      empty={said.attemptsEmpty}
      columns={[
        [said.number, ({ number }) => <Count of={number} />],
        [said.started, ({ startedAt }) => <Time at={startedAt} />],
        [said.duration, ({ durationMs }) => <Count of={durationMs} />, 'number'],
        [said.outcome, (attempt) => <AttemptOutcome of={attempt} />],
      ]}
    />
  );
};

/** What the receiver said to failed attempts, as text: it may hold anything. */
const Answers = ({ of }: { readonly of: AnsweredDelivery | null }) => {
  const { texts, may } = usePortal();
  const { delivery: said } = texts;
  const answered = of?.history.filter(({ answer }) => answer !== null) ?? [];
  return (
    <>
      {answered.map(({ number, answer }) => (
        <details>
          <summary>{said.answerTo(String(number))}</summary>
          <pre tabIndex={0}>
            <code dir="auto">{printableLines(answer!)}</code>
          </pre>
        </details>
      ))}
      <p class="hint">{may(PERSONS_SCOPE) ? said.answerHint : said.answerHidden}</p>
    </>
  );
};

/** The same for a replay. */
const REPLAY_LOOK_AGAIN = 2;
const A_DAY_MS = 86_400_000;
/** Of an instant, what a field for minutes takes. */
const MINUTES = 'YYYY-MM-DDTHH:MM'.length;

const start = async (visit: Visit, choice: object, key: string) => {
  const { replayId } = await visit.api.post<Replay>(`${endpointPath(visit)}/replay`, choice, key);
  return { goTo: `${endpointPage(visit)}/replays/${replayId}` };
};

export const replayPage: Page = {
  path: '/webhooks/:endpointId/replay',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit) => {
    const { texts, api } = visit;
    const { replay, eventTypes, replayable } = texts;
    const endpoint = await api.get<WebhookEndpoint>(endpointPath(visit));
    const since = new Date(Date.now() - A_DAY_MS).toISOString().slice(0, MINUTES);
    return {
      title: texts.endpoint.pages.replay,
      body: (
        <>
          <EndpointLink to={endpoint} />
          <p>{replay.hint}</p>
          <PostForm action="count" submit={replay.count}>
            <Text name="since" type="datetime-local" label={replay.since} value={since} required />
            <Text name="until" type="datetime-local" label={texts.keys.expiresUtc} hint={replay.untilHint} />
            <Checks
              name="types"
              label={texts.areas.events}
              values={endpoint.events}
              options={PUBLIC_EVENT_TYPES.map((type) => [type, eventTypes[type]])}
            />
            <Checks
              name="statuses"
              label={replay.statuses}
              values={UNDELIVERED_STATUSES}
              options={REPLAYABLE_STATUSES.map((status) => [status, replayable[status]])}
            />
          </PostForm>
        </>
      ),
    };
  },
  actions: {
    count: (visit, form) => {
      const until = form.text('until');
      const choice = {
        since: instantOf(form.text('since')),
        ...(until !== '' && { until: instantOf(until) }),
        types: form.all('types'),
        statuses: form.all('statuses'),
        dryRun: true,
      };
      return start(visit, choice, form.key);
    },
  },
};

const replayPath = (visit: Visit): string =>
  `${endpointPath(visit)}/replays/${encodeURIComponent(visit.params['replayId']!)}`;

const isUnderWay = ({ state }: Replay): boolean => state === 'queued' || state === 'running';

export const oneReplayPage: Page = {
  path: '/webhooks/:endpointId/replays/:replayId',
  area: 'webhooks',
  needs: 'webhooks:write',
  show: async (visit, failed) => {
    const { texts, api } = visit;
    const replay = await api.get<Replay>(replayPath(visit));
    const waits = isUnderWay(replay) || replay.deliveries.pending > 0;
    return {
      title: texts.endpoint.pages.replay,
      refreshSeconds: waits && !failed ? REPLAY_LOOK_AGAIN : undefined,
      body: (
        <>
          <Lead to={endpointPage(visit)} text={texts.newEndpoint.toEndpoint} />
          <Outcome replay={replay} />
          <ReplayFacts replay={replay} />
        </>
      ),
    };
  },
  actions: {
    /** Sends what a dry run has counted: the same choice, up to the same instant. */
    start: async (visit, form) => {
      const { since, until, types, statuses } = await visit.api.get<Replay>(replayPath(visit));
      return start(visit, { since, until, types, statuses, dryRun: false }, form.key);
    },
    stop: async (visit) => {
      await visit.api.delete(replayPath(visit));
      return { goTo: visit.path, done: 'replayStopped' };
    },
  },
};

/** What a replay found or does, and what can be done next. */
const Outcome = ({ replay: one }: { readonly replay: Replay }) => {
  const visit = usePortal();
  const { texts, formats } = visit;
  const { replay } = texts;
  if (isUnderWay(one))
    return (
      <>
        <p class="empty">{one.dryRun ? replay.counting : replay.running}</p>
        {!one.dryRun && <PostForm action="stop" submit={replay.stop} />}
      </>
    );
  if (!one.dryRun || one.state !== 'finished') return null;
  return (
    <>
      <p class={one.events === 0 ? 'empty' : 'done'} role="status">
        {one.events === 0 ? replay.none : replay.counted(formats.number(one.events))}
      </p>
      {one.events > 0 && <PostForm action="start" submit={replay.start} />}
      <Lead to={`${endpointPage(visit)}/replay`} text={replay.another} />
    </>
  );
};

const ReplayFacts = ({ replay: one }: { readonly replay: Replay }) => {
  const { texts, formats } = useVisit();
  const { replay, eventTypes, replayable, states } = texts;
  const sent = (['pending', 'succeeded', 'exhausted', 'skipped'] as const).map((state) =>
    texts.pair(states[state], formats.number(one.deliveries[state])),
  );
  return (
    <Facts
      of={[
        [
          texts.readings.status,
          <State of={one.dryRun && one.state === 'finished' ? 'counted' : one.state} />,
        ],
        [texts.areas.events, <Count of={one.events} />],
        !one.dryRun && [replay.progress, formats.percent(one.progress)],
        !one.dryRun && [texts.deliveries.title, sent.join(', ')],
        !one.dryRun && [replay.done, <Time at={one.finishedAt} />],
        [replay.from, <Time at={one.since} />],
        [replay.to, <Time at={one.until} />],
        [texts.areas.events, one.types.map((type) => eventTypes[type]).join(', ')],
        [replay.statuses, one.statuses.map((status) => replayable[status]).join(', ')],
      ]}
    />
  );
};
