import { creditsEvents, testBookEvents } from '@app/billing/contracts/index.js';
import {
  decodeAny,
  selectEvents,
  type EventOf,
  type RecordedOf,
} from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import { sql, type Statement, type Step } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../../contracts/events.js';
import { isSentOnRelease, publicEventOf, type PublicEvent } from '../../domain/delivery/public-event.js';
import { markQueuesReady, newStatus } from '../../read-models/delivery/delivery-sql.js';
import { endpointSteps, lockEndpoints } from './endpoint-rows.js';
import { keepFailures, takeReleased, type Release, type UnreleasedFailure } from './unreleased-failures.js';

/** Only the releases of a live or test book are decoded, so no other event of it can stop the fan-out. */
const releaseEvents = selectEvents(creditsEvents, 'CreditsReleased');
const testReleaseEvents = selectEvents(testBookEvents, 'TestCreditsReleased');

const CATALOGUES = [
  webhookEndpointEvents,
  readingEvents,
  publicationEvents,
  releaseEvents,
  testReleaseEvents,
] as const;

type FollowedEvent = RecordedOf<typeof CATALOGUES>;
type EndpointEvent = Recorded<WebhookEndpointEvent>;
type SourceEvent = Exclude<FollowedEvent, EndpointEvent>;

/**
 * Fans events out to endpoints. Follows endpoints and readings together, so that an event goes to exactly the endpoints
 * that subscribed before it in the log; and releases of credits, because a failure is sent after its release. It cannot
 * be rebuilt: that would send everything again.
 * @param firstPauseMs pause before the first attempt of a delivery
 */
export const fanOutConsumer = (firstPauseMs: number): Consumer => ({
  name: 'webhooks.fanout.v1',
  categories: CATALOGUES.map(({ category }) => category),
  birth: 'beginning',
  keyOf: readingOrStream,
  steps: (events) => fanOutSteps(events, firstPauseMs),
});

/** The release of a reading's credits follows its failure, which is in another stream. */
const readingOrStream = ({ stream, type, data }: StoredEvent): string => {
  const { readingId } = (data ?? {}) as { readingId?: unknown };
  return isRelease({ type }) && typeof readingId === 'string' ? readingId : streamId(stream);
};

type ReleaseEvent = EventOf<typeof releaseEvents | typeof testReleaseEvents>;

const isRelease = <E extends { readonly type: string }>(event: E): event is Extract<E, ReleaseEvent> =>
  event.type === 'CreditsReleased' || event.type === 'TestCreditsReleased';

const fanOutSteps = (stored: readonly StoredEvent[], firstPauseMs: number): readonly Step[] => {
  const events = stored.map((one) => decodeAny(CATALOGUES, one)).filter((event) => event !== null);
  const steps: Step[] = [...lockEndpoints(events.filter(isOfEndpoint))];
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

/**
 * Events between two changes of endpoints go to the same endpoints, in one statement up to the next release: the feed
 * has the order of the log.
 */
const fanOutRun = (run: readonly SourceEvent[], firstPauseMs: number): readonly Statement[] => {
  const statements: Statement[] = [];
  let publicEvents: PublicEvent[] = [];
  let failures: UnreleasedFailure[] = [];
  let releases: Release[] = [];
  const flush = (): void => {
    if (failures.length > 0) statements.push(keepFailures(failures));
    if (publicEvents.length > 0) statements.push(...insertDeliveries(rowsOf(publicEvents), firstPauseMs));
    if (releases.length > 0) statements.push(...insertDeliveries(takeReleased(releases), firstPauseMs));
    [publicEvents, failures, releases] = [[], [], []];
  };
  for (const event of run) {
    if (isRelease(event)) {
      releases.push({ causeEventId: event.data.causeEventId, position: String(event.position) });
      continue;
    }
    if (releases.length > 0) flush();
    if (event.type === 'ReadingErased') statements.push(forgetAnswers(streamId(event.stream)));
    const publicEvent = publicEventOf(event);
    if (publicEvent === null) continue;
    if (isSentOnRelease(publicEvent)) failures.push({ causeEventId: event.id, event: publicEvent });
    else publicEvents.push(publicEvent);
  }
  flush();
  return statements;
};

/** Receivers may have repeated the external id of an erased reading in their answers. */
const forgetAnswers = (readingId: string): Statement => sql`
  update webhooks.attempt set response_body = null
  from webhooks.public_event event
  join webhooks.endpoint using (workspace_id)
  join webhooks.delivery on delivery.endpoint_id = endpoint.endpoint_id and delivery.event_id = event.event_id
  where event.reading_id = ${readingId} and event.shows_external_id
    and attempt.delivery_id = delivery.delivery_id and attempt.response_body is not null`;

/** SQL: the events as rows. */
const rowsOf = (events: readonly PublicEvent[]): Statement => {
  const column = <K extends keyof PublicEvent>(name: K): readonly PublicEvent[K][] =>
    events.map((event) => event[name]);
  return sql`
    select *
    from unnest(${column('eventId')}::text[], ${column('workspaceId')}::text[], ${column('readingId')}::uuid[],
                ${column('type')}::text[], ${column('occurredAt')}::timestamptz[], ${column('bodyHead')}::text[],
                ${column('bodyTail')}::text[], ${column('position')}::numeric[], ${column('traceparent')}::text[],
                ${column('correlationId')}::text[], ${column('livemode')}::boolean[])
      as fact (event_id, workspace_id, reading_id, type, occurred_at, head, tail, position, traceparent, correlation_id,
               livemode)`;
};

/**
 * Stores public events, numbers them per reading without a gap, inserts a delivery for each endpoint that subscribes at
 * this position of the log, and makes the workspace queues ready. An event that is stored already inserts nothing, so
 * endpoints created later do not receive it.
 *
 * An event whose stream was parked comes late: it is placed behind those that readers of the feed may have seen.
 *
 * The body of a reading with an external id is completed when it is sent (`wholeBody`). Without one it says so. Neither,
 * when the workspace has chosen so by now: later attempts and pages keep it.
 *
 * A delivery that must wait for an earlier one of its reading gets that one's due time. It could not be sent before, and
 * the dispatcher need not read it.
 * @param events selects the events: ids, type and time, the body's head and tail, position, trace context
 */
const insertDeliveries = (events: Statement, firstPauseMs: number): readonly Statement[] => {
  const pause = `$${events.values.length + 1}`;
  const text = `
    with fact as (${events.text}
    ), numbered as (
      select fact.event_id, fact.workspace_id, fact.reading_id, fact.type, fact.occurred_at, fact.head, fact.tail,
             fact.traceparent, fact.correlation_id, fact.livemode,
             not exists (select from webhooks.content
                         where content.workspace_id = fact.workspace_id and not content.external_id) as shows,
             exists (select from platform.subject_key key
                     where key.subject_id = fact.reading_id and key.lookups is not null) as is_referenced,
             greatest(fact.position,
               (select max(position) from webhooks.public_event last where last.workspace_id = fact.workspace_id)
                 + row_number() over (partition by workspace_id order by position)) as position,
             (select coalesce(max(sequence), 0) from webhooks.public_event before where before.reading_id = fact.reading_id)
               + row_number() over (partition by reading_id order by position) as sequence
      from fact
      where not exists (select from webhooks.public_event known where known.event_id = fact.event_id)
    ), stored as (
      insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at, position,
                                         traceparent, correlation_id, livemode, shows_external_id)
      select event_id, workspace_id, reading_id, type, sequence,
             head || sequence || case when shows and not is_referenced then left(tail, -1) || ',"externalId":null}' else tail end,
             occurred_at, position, traceparent, correlation_id, livemode, shows and is_referenced
      from numbered
      on conflict (event_id) do nothing
      returning event_id, workspace_id, reading_id, type, sequence, occurred_at, livemode
    ), inserted as (
      insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                     due_at, created_at, settled_at)
      select webhooks.delivery_id(endpoint.endpoint_id, stored.event_id), endpoint.endpoint_id, stored.workspace_id,
             stored.event_id, stored.reading_id, stored.sequence,
             ${newStatus('endpoint.enabled')},
             greatest(stored.occurred_at + ${pause} * interval '1 millisecond', waiting.due_at),
             stored.occurred_at,
             case when endpoint.enabled then null else greatest(stored.occurred_at, endpoint.disabled_at) end
      from stored
      join webhooks.endpoint on endpoint.workspace_id = stored.workspace_id and endpoint.deleted_at is null
        and stored.type = any (endpoint.events)
        and case when stored.livemode then 'live' else 'test' end = any (endpoint.modes)
      left join lateral (
        select max(due_at) as due_at from webhooks.delivery earlier
        where earlier.endpoint_id = endpoint.endpoint_id and earlier.reading_id = stored.reading_id
          and earlier.status = 'pending' and earlier.lease is null
      ) waiting on true
      order by stored.occurred_at
      on conflict (delivery_id) do nothing
      returning workspace_id, status, due_at
    )
    ${markQueuesReady('inserted')}`;
  return [{ text, values: [...events.values, firstPauseMs] }, sql`select pg_notify('webhooks_due', '')`];
};
