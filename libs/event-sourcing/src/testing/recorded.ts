import type { DomainEvent, EventMetadata, Recorded, StoredEvent } from '../core/event.js';

const METADATA: EventMetadata = {
  correlationId: 'correlation',
  causationId: 'cause',
  workspaceId: 'ws_1',
  actor: 'system:spec',
  occurredAt: '2026-01-02T03:04:05.006Z',
  schemaVersion: 1,
};

/** An event as a consumer receives it; `place` overrides its id, its position in the log, or parts of its metadata. */
export const recorded = <E extends DomainEvent>(
  stream: string,
  event: E,
  place: Partial<Omit<StoredEvent, 'metadata'>> & { readonly metadata?: Partial<EventMetadata> } = {},
): Recorded<E> => ({
  id: 'event-1',
  revision: 0n,
  position: 100n,
  ...place,
  ...event,
  stream,
  metadata: { ...METADATA, ...place.metadata },
});
