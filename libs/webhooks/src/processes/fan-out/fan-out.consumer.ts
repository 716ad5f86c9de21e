import { creditsEvents } from '@app/billing/contracts/index.js';
import { decodeAny, selectEvents, type RecordedOf } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import type { Statement, Step } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../../contracts/events.js';
import { isSentOnRelease, publicEventOf, type PublicEvent } from '../../domain/delivery/public-event.js';
import { fanOutEvents } from './insert-deliveries.js';
import { endpointSteps, lockEndpoints } from './endpoint-rows.js';
import { keepFailures, fanOutReleased, type Release, type UnreleasedFailure } from './unreleased-failures.js';

/** Only the releases of a credit book are decoded, so no other event of it can stop the fan-out. */
const releaseEvents = selectEvents(creditsEvents, 'CreditsReleased');

const CATALOGUES = [webhookEndpointEvents, readingEvents, publicationEvents, releaseEvents] as const;

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
  return type === 'CreditsReleased' && typeof readingId === 'string' ? readingId : streamId(stream);
};

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
 * Events between two changes of endpoints go to the same endpoints, in one statement. Releases come last, because no
 * event of a reading follows its failure.
 */
const fanOutRun = (run: readonly SourceEvent[], firstPauseMs: number): readonly Statement[] => {
  const publicEvents: PublicEvent[] = [];
  const failures: UnreleasedFailure[] = [];
  const releases: Release[] = [];
  for (const event of run) {
    if (event.type === 'CreditsReleased') {
      releases.push({ causeEventId: event.data.causeEventId, position: String(event.position) });
      continue;
    }
    const publicEvent = publicEventOf(event);
    if (publicEvent === null) continue;
    if (isSentOnRelease(publicEvent)) failures.push({ causeEventId: event.id, event: publicEvent });
    else publicEvents.push(publicEvent);
  }
  return [
    ...(failures.length > 0 ? [keepFailures(failures)] : []),
    ...(publicEvents.length > 0 ? fanOutEvents(publicEvents, firstPauseMs) : []),
    ...(releases.length > 0 ? fanOutReleased(releases, firstPauseMs) : []),
  ];
};
