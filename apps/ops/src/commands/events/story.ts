import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { DeliveryOfReading } from '#webhooks/contracts/index.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';

/** An event of a story, with its cause. */
export interface Chapter {
  readonly position: bigint;
  readonly occurredAt: string;
  /** Time since the first event of the story. */
  readonly afterMs: number;
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  readonly eventId: string;
  readonly actor: string;
  readonly correlationId: string;
  /** An event of the story, or another recorded cause: a request, a command, an event outside the story. */
  readonly cause: { readonly id: string; readonly type: string | null; readonly stream: string | null };
}

/** The events in log order without duplicates, each with its cause looked up among them. */
export const tellStory = (events: readonly StoredEvent[]): readonly Chapter[] => {
  const byId = new Map(events.map((event) => [event.id, event]));
  const ordered = [...byId.values()].sort((one, other) => (one.position < other.position ? -1 : 1));
  const startedAt = Date.parse(ordered[0]?.metadata.occurredAt ?? '');
  return ordered.map((event) => {
    const { stream, revision, position, type, metadata } = event;
    const cause = byId.get(metadata.causationId);
    return {
      position,
      occurredAt: metadata.occurredAt,
      afterMs: Date.parse(metadata.occurredAt) - startedAt,
      stream,
      revision,
      type,
      eventId: event.id,
      actor: metadata.actor,
      correlationId: metadata.correlationId,
      cause: { id: metadata.causationId, type: cause?.type ?? null, stream: cause?.stream ?? null },
    };
  });
};

/**
 * A Mermaid sequence diagram: stream categories are columns, time runs down, and each event is an arrow from the stream
 * of its cause, or from the caller. Deliveries come last.
 */
export const drawStory = (
  chapters: readonly Chapter[],
  deliveries: readonly DeliveryOfReading[] = [],
): string => {
  const from = ({ cause, actor }: Chapter): string =>
    cause.stream === null ? kindOf(actor) : categoryOf(cause.stream);
  const participants = new Set(chapters.flatMap((chapter) => [from(chapter), categoryOf(chapter.stream)]));
  for (const { endpointId } of deliveries) participants.add('webhooks').add(endpointId);
  return [
    'sequenceDiagram',
    ...[...participants].map((name) => `  participant ${name}`),
    ...chapters.map(
      (chapter) =>
        `  ${from(chapter)}->>${categoryOf(chapter.stream)}: ${chapter.type} (+${chapter.afterMs} ms)`,
    ),
    ...deliveries.map(
      ({ endpointId, eventType, status, attempts }) =>
        `  webhooks->>${endpointId}: ${eventType} (${status}, ${attempts} attempts)`,
    ),
  ].join('\n');
};

/** `apiKey:Ab3d` is drawn as `apiKey`. */
export const kindOf = (actor: string): string => actor.split(':')[0] || 'unknown';
