import { creditsEvents } from '@app/billing/contracts/index.js';
import { decodeAny, selectEvents, type RecordedOf } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import type { Statement, Step } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../../contracts/events.js';
import { isToldOnRelease, publicEventOf, type PublicEvent } from '../../domain/delivery/public-event.js';
import { tellEvents } from './insert-deliveries.js';
import { endpointSteps, lockEndpoints } from './endpoint-rows.js';
import { keepFailures, tellReleased, type Release, type UnreleasedFailure } from './unreleased-failures.js';

/** Of a book only the releases are read: whatever else is in it, receivers go on being told. */
const releaseEvents = selectEvents(creditsEvents, 'CreditsReleased');

const CATALOGUES = [webhookEndpointEvents, readingEvents, publicationEvents, releaseEvents] as const;

type FollowedEvent = RecordedOf<typeof CATALOGUES>;
type EndpointEvent = Recorded<WebhookEndpointEvent>;
type ToldEvent = Exclude<FollowedEvent, EndpointEvent>;

/**
 * Follows endpoints and readings in one go, so that an event goes to exactly the endpoints that subscribed before it
 * in the log; and releases of credits, because a failure is told when its own has come. It has no rebuild: what was
 * sent is not sent again.
 * @param firstPauseMs pause before the first attempt of a delivery
 */
export const fanOutConsumer = (firstPauseMs: number): Consumer => ({
  name: 'webhooks.fanout.v1',
  categories: CATALOGUES.map(({ category }) => category),
  birth: 'beginning',
  onPoison: 'halt',
  steps: (events) => fanOutSteps(events, firstPauseMs),
});

const fanOutSteps = (stored: readonly StoredEvent[], firstPauseMs: number): readonly Step[] => {
  const events = stored.map((one) => decodeAny(CATALOGUES, one)).filter((event) => event !== null);
  const steps: Step[] = [...lockEndpoints(events.filter(isOfEndpoint))];
  let stretch: ToldEvent[] = [];
  for (const event of events) {
    if (isOfEndpoint(event)) {
      steps.push(...tell(stretch, firstPauseMs), ...endpointSteps(event));
      stretch = [];
    } else {
      stretch.push(event);
    }
  }
  return [...steps, ...tell(stretch, firstPauseMs)];
};

const isOfEndpoint = (event: FollowedEvent): event is EndpointEvent =>
  categoryOf(event.stream) === webhookEndpointEvents.category;

/**
 * What is told between two changes of endpoints is told to the same endpoints, and goes into one statement. Releases
 * come last, because nothing is told of a reading after its failure.
 */
const tell = (stretch: readonly ToldEvent[], firstPauseMs: number): readonly Statement[] => {
  const told: PublicEvent[] = [];
  const failures: UnreleasedFailure[] = [];
  const releases: Release[] = [];
  for (const event of stretch) {
    if (event.type === 'CreditsReleased') {
      releases.push({ causeEventId: event.data.causeEventId, position: String(event.position) });
      continue;
    }
    const publicEvent = publicEventOf(event);
    if (publicEvent === null) continue;
    if (isToldOnRelease(publicEvent)) failures.push({ causeEventId: event.id, event: publicEvent });
    else told.push(publicEvent);
  }
  return [
    ...(failures.length > 0 ? [keepFailures(failures)] : []),
    ...(told.length > 0 ? tellEvents(told, firstPauseMs) : []),
    ...(releases.length > 0 ? tellReleased(releases, firstPauseMs) : []),
  ];
};
