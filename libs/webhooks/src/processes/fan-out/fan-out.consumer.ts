import { decodeAny } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import type { Step } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../../contracts/events.js';
import { publicEventOf, type PublicEvent, type TellableEvent } from '../../domain/delivery/public-event.js';
import { deliveryStatements } from './delivery-rows.js';
import { endpointSteps } from './endpoint-rows.js';

const CATALOGUES = [webhookEndpointEvents, readingEvents, publicationEvents];

/**
 * Follows endpoints and readings in one go, so that an event goes to exactly the endpoints that subscribed before it
 * in the log. It has no rebuild: what was sent is not sent again.
 * @param firstPauseMs pause before the first attempt of a delivery
 */
export const fanOutConsumer = (firstPauseMs: number): Consumer => ({
  name: 'webhooks.fanout.v1',
  categories: CATALOGUES.map(({ category }) => category),
  birth: 'beginning',
  onPoison: 'halt',
  steps: (events) => fanOutSteps(events, firstPauseMs),
});

/** Public events between two changes of endpoints see the same endpoints, and go into one statement. */
const fanOutSteps = (stored: readonly StoredEvent[], firstPauseMs: number): readonly Step[] => {
  const steps: Step[] = [];
  let told: PublicEvent[] = [];
  const tell = (): void => {
    if (told.length > 0) steps.push(...deliveryStatements(told, firstPauseMs));
    told = [];
  };
  for (const one of stored) {
    const event = decodeAny(CATALOGUES, one);
    if (event === null) continue;
    if (isOfEndpoint(event)) {
      tell();
      steps.push(...endpointSteps(event));
    } else {
      const publicEvent = publicEventOf(event as TellableEvent);
      if (publicEvent) told.push(publicEvent);
    }
  }
  tell();
  return steps;
};

const isOfEndpoint = (event: Recorded): event is Recorded<WebhookEndpointEvent> =>
  categoryOf(event.stream) === webhookEndpointEvents.category;
