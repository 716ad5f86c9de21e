import { decodeAny } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import type { Statement } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { readingEvents } from '@app/readings/contracts/index.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from '../../contracts/events.js';
import { publicEventOf, type PublicEvent, type TellableEvent } from '../../domain/delivery/public-event.js';
import { deliveryStatements } from './delivery-rows.js';
import { endpointStatements } from './endpoint-rows.js';

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
  statements: (events) => fanOutStatements(events, firstPauseMs),
});

/** Public events between two changes of endpoints see the same endpoints, and go into one statement. */
const fanOutStatements = (stored: readonly StoredEvent[], firstPauseMs: number): readonly Statement[] => {
  const statements: Statement[] = [];
  let told: PublicEvent[] = [];
  const tell = (): void => {
    if (told.length > 0) statements.push(...deliveryStatements(told, firstPauseMs));
    told = [];
  };
  for (const one of stored) {
    const event = decodeAny(CATALOGUES, one);
    if (event === null) continue;
    if (isOfEndpoint(event)) {
      tell();
      statements.push(...endpointStatements(event));
    } else {
      const publicEvent = publicEventOf(event as TellableEvent);
      if (publicEvent) told.push(publicEvent);
    }
  }
  tell();
  return statements;
};

const isOfEndpoint = (event: Recorded): event is Recorded<WebhookEndpointEvent> =>
  categoryOf(event.stream) === webhookEndpointEvents.category;
