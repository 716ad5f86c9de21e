import { assertNever } from '#event-sourcing/core/decider.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { streamId, categoryOf } from '#event-sourcing/core/stream-name.js';
import { sql, type Statement, type Step } from '#event-sourcing/projections/statement.js';
import { foldInto } from '#event-sourcing/projections/view.js';
import { creditsEvents, testBookEvents } from '#billing/contracts/index.js';
import {
  decodeAny,
  isFollowed,
  selectEvents,
  type EventOf,
  type RecordedOf,
} from '#event-sourcing/core/event-catalogue.js';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { batchEvents, readingEvents } from '#readings/contracts/index.js';
import { type WebhookEndpointEvent, webhookEndpointEvents } from '../contracts/index.js';
import { endpoints } from '../projections.js';
import { noteSkipping } from './skip-pending.js';
import { askForProbe, endProbes, probeAgain } from './verification.js';
import { type PublicEvent, isSentOnRelease, publicEventOf } from '../domain/public-event.js';
import { noticeOf, type Notice } from '../domain/notice.js';
import { insertDeliveries, insertNotices, lockNotices, rowsOf } from './insert-deliveries.js';

/** Locks endpoints first, as every insert of deliveries does: waits for running inserts, and holds up further ones. */
const lockEndpoints = (events: readonly Recorded<WebhookEndpointEvent>[]): readonly Statement[] => {
  const known = events.filter(({ type }) => type !== 'WebhookEndpointCreated');
  if (known.length === 0) return [];
  const endpointIds = known.map(({ stream }) => streamId(stream));
  return [
    sql`select from webhooks.endpoint where endpoint_id = any (${endpointIds}) order by endpoint_id for no key update`,
  ];
};

/** What an event of an endpoint changes: first what depends on the row as it was, then the row. Twice changes no more than once. */
const endpointSteps = (event: Recorded<WebhookEndpointEvent>): readonly Step[] => [
  ...effectsOf(event),
  foldInto(endpoints, [event]),
];

const effectsOf = (event: Recorded<WebhookEndpointEvent>): readonly Statement[] => {
  const endpointId = streamId(event.stream);
  const revision = String(event.revision);
  const { occurredAt } = event.metadata;
  switch (event.type) {
    case 'WebhookEndpointCreated':
      return event.data.verified ? [] : [askForProbe(endpointId, event.data.url, occurredAt)];
    case 'WebhookEndpointSecretRotated':
      return [];
    case 'WebhookEndpointUpdated':
      return [
        noteSkipping(endpointId, revision, occurredAt, event.data.modes),
        resetFailures(endpointId, revision, event.data.url),
        event.data.verified ? endProbes(endpointId) : askForProbe(endpointId, event.data.url, occurredAt),
      ];
    case 'WebhookEndpointVerified':
      return [endProbes(endpointId)];
    case 'WebhookEndpointDisabled':
      return [noteSkipping(endpointId, revision, occurredAt)];
    case 'WebhookEndpointEnabled':
      return [resetFailures(endpointId, revision, null), probeAgain(endpointId, occurredAt)];
    case 'WebhookEndpointDeleted':
      return [
        noteSkipping(endpointId, revision, occurredAt),
        sql`delete from webhooks.secret where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_headers where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_health where endpoint_id = ${endpointId}`,
        sql`delete from webhooks.endpoint_hour where endpoint_id = ${endpointId}`,
        endProbes(endpointId),
      ];
    default:
      return assertNever(event);
  }
};

/** Its failures end, as of a new one. @param movedTo its new URL, if it is another; `null`: in any case */
const resetFailures = (endpointId: string, revision: string, movedTo: string | null): Statement => sql`
  delete from webhooks.endpoint_health using webhooks.endpoint
  where endpoint_health.endpoint_id = ${endpointId} and endpoint.endpoint_id = endpoint_health.endpoint_id
    and endpoint.revision < ${revision} and endpoint.url is distinct from ${movedTo}`;

/** A failed reading whose credits are still held. */
interface UnreleasedFailure {
  /** Id of the ReadingFailed, which its release will name. */
  readonly causeEventId: string;
  readonly event: PublicEvent;
}

export interface Release {
  readonly causeEventId: string;
  /** Position in the log, in decimal: the failure is sent as of it. */
  readonly position: string;
}

/** Stores failures until their credits are released. One that is stored or sent already adds nothing. */
const keepFailures = (failures: readonly UnreleasedFailure[]): Statement => {
  const column = <K extends keyof PublicEvent>(name: K): readonly PublicEvent[K][] =>
    failures.map(({ event }) => event[name]);
  return sql`
    insert into webhooks.unreleased_failure (cause_event_id, event_id, workspace_id, reading_id, type, occurred_at, head,
                                             tail, traceparent, correlation_id, livemode)
    select *
    from unnest(${failures.map(({ causeEventId }) => causeEventId)}::text[], ${column('eventId')}::text[],
                ${column('workspaceId')}::text[], ${column('readingId')}::uuid[], ${column('type')}::text[],
                ${column('occurredAt')}::timestamptz[], ${column('bodyHead')}::text[], ${column('bodyTail')}::text[],
                ${column('traceparent')}::text[], ${column('correlationId')}::text[],
                ${column('livemode')}::boolean[])
      as failure (cause_event_id, event_id, workspace_id, reading_id, type, occurred_at, head, tail, traceparent,
                  correlation_id, livemode)
    where not exists (select from webhooks.public_event known where known.event_id = failure.event_id)
    on conflict (cause_event_id) do nothing`;
};

/** SQL: takes the failures whose credits these events release, as rows of public events. Other releases name none. */
const takeReleased = (releases: readonly Release[]): Statement => sql`
  delete from webhooks.unreleased_failure failure
  using unnest(${releases.map(({ causeEventId }) => causeEventId)}::text[],
               ${releases.map(({ position }) => position)}::numeric[]) as release (cause_event_id, position)
  where failure.cause_event_id = release.cause_event_id
  returning failure.event_id, failure.workspace_id, failure.reading_id, failure.type, failure.occurred_at, failure.head,
            failure.tail, release.position, failure.traceparent, failure.correlation_id, failure.livemode`;

/** Only the releases of a live or test book are decoded, so no other event of it can stop the fan-out. */
const releaseEvents = selectEvents(creditsEvents, 'CreditsReleased');
const testReleaseEvents = selectEvents(testBookEvents, 'CreditsReleased');

const CATALOGUES = [
  webhookEndpointEvents,
  readingEvents,
  publicationEvents,
  releaseEvents,
  testReleaseEvents,
  selectEvents(batchEvents, 'BatchEnded'),
] as const;

type FollowedEvent = RecordedOf<typeof CATALOGUES>;
type EndpointEvent = Recorded<WebhookEndpointEvent>;
type SourceEvent = Exclude<FollowedEvent, EndpointEvent>;

/**
 * Fans events and notices out to endpoints. Follows endpoints and readings together, so that an event goes to exactly the
 * endpoints that subscribed before it in the log; and releases of credits, because a failure is sent after its release. It
 * cannot be rebuilt: that would send everything again.
 * @param firstPauseMs pause before the first attempt of a delivery
 */
export const fanOutConsumer = (firstPauseMs: number): Consumer => ({
  name: 'webhooks.fanout.v1',
  categories: CATALOGUES.map(({ category }) => category),
  birth: 'beginning',
  follows: (event) => isFollowed(CATALOGUES, event),
  keyOf: readingOrStream,
  steps: (events) => fanOutSteps(events, firstPauseMs),
});

/** The release of a reading's credits follows its failure, which is in another stream. */
const readingOrStream = ({ stream, type, data }: StoredEvent): string => {
  const { readingId } = (data ?? {}) as { readingId?: unknown };
  return isRelease({ type }) && typeof readingId === 'string' ? readingId : streamId(stream);
};

const isRelease = <E extends { readonly type: string }>(
  event: E,
): event is Extract<E, EventOf<typeof releaseEvents>> => event.type === 'CreditsReleased';

const fanOutSteps = (stored: readonly StoredEvent[], firstPauseMs: number): readonly Step[] => {
  const events = stored.map((one) => decodeAny(CATALOGUES, one)).filter((event) => event !== null);
  const steps: Step[] = [
    ...(events.some(({ type }) => type === 'BatchEnded') ? [lockNotices] : []),
    ...lockEndpoints(events.filter(isOfEndpoint)),
  ];
  let run: SourceEvent[] = [];
  for (const event of events) {
    if (isOfEndpoint(event)) {
      steps.push(...fanOutRun(run, firstPauseMs), ...endpointSteps(event));
      run = [];
    } else {
      run.push(event);
    }
  }
  return [...steps, ...fanOutRun(run, firstPauseMs)];
};

const isOfEndpoint = (event: FollowedEvent): event is EndpointEvent =>
  categoryOf(event.stream) === webhookEndpointEvents.category;

/** Between two changes of endpoints, events go to the same ones: one statement up to the next release, in log order. */
const fanOutRun = (run: readonly SourceEvent[], firstPauseMs: number): readonly Statement[] => {
  const statements: Statement[] = [];
  let publicEvents: PublicEvent[] = [];
  let failures: UnreleasedFailure[] = [];
  let releases: Release[] = [];
  const notices: Notice[] = [];
  const flush = (): void => {
    if (failures.length > 0) statements.push(keepFailures(failures));
    if (publicEvents.length > 0) statements.push(insertDeliveries(rowsOf(publicEvents), firstPauseMs));
    if (releases.length > 0) statements.push(insertDeliveries(takeReleased(releases), firstPauseMs));
    [publicEvents, failures, releases] = [[], [], []];
  };
  for (const event of run) {
    if (event.type === 'BatchEnded') {
      notices.push(noticeOf(event));
      continue;
    }
    if (isRelease(event)) {
      releases.push({ causeEventId: event.data.causeEventId, position: String(event.position) });
      continue;
    }
    if (releases.length > 0) flush();
    const publicEvent = publicEventOf(event);
    if (publicEvent === null) continue;
    if (isSentOnRelease(publicEvent)) failures.push({ causeEventId: event.id, event: publicEvent });
    else publicEvents.push(publicEvent);
  }
  flush();
  return notices.length > 0 ? [...statements, insertNotices(notices, firstPauseMs)] : statements;
};
