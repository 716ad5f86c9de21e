import { creditsEvents, testBookEvents } from '#billing/contracts/index.js';
import {
  decodeAny,
  isFollowed,
  selectEvents,
  type EventOf,
  type RecordedOf,
} from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import { sql, type Statement, type Step } from '#event-sourcing/projections/statement.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { batchEvents, readingEvents } from '#readings/contracts/index.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../../contracts/events.js';
import { noticeOf, type Notice } from '../../domain/notice/notice.js';
import { isSentOnRelease, publicEventOf, type PublicEvent } from '../../domain/delivery/public-event.js';
import { endpointSteps, lockEndpoints } from './endpoint-rows.js';
import { insertDeliveries, insertNotices, lockNotices, rowsOf } from './insert-deliveries.js';
import { keepFailures, takeReleased, type Release, type UnreleasedFailure } from './unreleased-failures.js';

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
  prompt: true,
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

/**
 * Events between two changes of endpoints go to the same endpoints, in one statement up to the next release: the feed
 * has the order of the log.
 */
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
    if (event.type === 'ReadingErased') statements.push(forgetAnswers(streamId(event.stream)));
    const publicEvent = publicEventOf(event);
    if (publicEvent === null) continue;
    if (isSentOnRelease(publicEvent)) failures.push({ causeEventId: event.id, event: publicEvent });
    else publicEvents.push(publicEvent);
  }
  flush();
  return notices.length > 0 ? [...statements, insertNotices(notices, firstPauseMs)] : statements;
};

/**
 * Receivers may have repeated the external id of an erased reading in their answers, or what they know of the person. Nobody
 * can open a sealed answer by now; those of earlier versions are in clear.
 */
const forgetAnswers = (readingId: string): Statement => sql`
  with sent as (
    select event_id, endpoint_id from webhooks.public_event event join webhooks.endpoint using (workspace_id)
    where event.reading_id = ${readingId}
  ), pending as (
    update webhooks.attempt set answer = null
    from sent join webhooks.delivery using (event_id, endpoint_id)
    where attempt.delivery_id = delivery.delivery_id
      and attempt.answer is not null
  )
  update webhooks.settled_delivery settled set answer = null
  from sent
  where settled.event_id = sent.event_id and settled.endpoint_id = sent.endpoint_id
    and settled.answer is not null`;
