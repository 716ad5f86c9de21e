import { creditsEvents, testBookEvents } from '#billing/contracts/index.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';
import { publicEventOf, type PublicEvent } from '#webhooks/domain/public-event.js';
import type { World } from './world.js';
import type { History, Report } from './history.js';

/**
 * Replays the log: each public event goes once to each endpoint that existed before it, numbered in order. A failure is
 * published where its credits are released, and not before.
 */
export const checkDeliveries = ({ store }: World, { rows }: History, report: Report): void => {
  const endpoints: { id: string; workspaceId: string }[] = [];
  const failures = new Map<string, PublicEvent>();
  const sequences = new Map<string, number>();
  const places: string[] = [];
  const expected: string[] = [];
  const publish = (published: PublicEvent, position: bigint): void => {
    const sequence = (sequences.get(published.readingId) ?? 0) + 1;
    sequences.set(published.readingId, sequence);
    places.push(`${published.eventId} ${position}`);
    for (const { id, workspaceId } of endpoints) {
      if (workspaceId === published.workspaceId) expected.push(`${id} ${published.eventId} ${sequence}`);
    }
  };
  for (const stored of store.log) {
    const { position } = stored;
    switch (categoryOf(stored.stream)) {
      case 'webhookEndpoint':
        endpoints.push({ id: streamId(stored.stream), workspaceId: stored.metadata.workspaceId });
        break;
      case creditsEvents.category:
      case testBookEvents.category: {
        const event = decode(creditsEvents, stored);
        const failure = event.type === 'CreditsReleased' && failures.get(event.data.causeEventId);
        if (failure) publish(failure, position);
        break;
      }
      case readingEvents.category: {
        const event = decode(readingEvents, stored);
        const published = publicEventOf(event);
        if (published && event.type === 'ReadingFailed') failures.set(stored.id, published);
        else if (published) publish(published, position);
        break;
      }
      case publicationEvents.category: {
        const published = publicEventOf(decode(publicationEvents, stored));
        if (published) publish(published, position);
        break;
      }
      default:
    }
  }
  const sent = rows('webhooks.delivery').map(
    (row) => `${row['endpoint_id'] as string} ${row['event_id'] as string} ${row['sequence'] as number}`,
  );
  if (sent.toSorted().join() !== expected.toSorted().join()) {
    report(`deliveries differ: ${sent.length} made, ${expected.length} due`);
  }
  const feed = rows('webhooks.public_event').map(
    (row) => `${row['event_id'] as string} ${row['position'] as number}`,
  );
  if (feed.toSorted().join() !== places.toSorted().join())
    report('events are published at another position than expected');
  const unpublished = rows('webhooks.unreleased_failure').length;
  if (unpublished > 0) report(`${unpublished} failures were never published`);
};
