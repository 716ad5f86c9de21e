import { jsonEvent, type JSONType, type ResolvedEvent } from '@eventstore/db-client';
import type { EventMetadata, EventToAppend, StoredEvent } from '../core/event.js';

const utf8 = new TextEncoder();

/** Sends metadata as bytes: it then skips the Base64 step that data takes. */
export const toClientEvent = (event: EventToAppend) =>
  jsonEvent({
    id: event.id,
    type: event.type,
    data: event.data as JSONType,
    metadata: utf8.encode(
      JSON.stringify({
        ...event.metadata,
        $correlationId: event.metadata.correlationId,
        $causationId: event.metadata.causationId,
      }),
    ),
  });

/** `null` for a link whose event is gone. */
export const toStored = ({ event }: ResolvedEvent): StoredEvent | null =>
  event
    ? {
        id: event.id,
        stream: event.streamId,
        revision: event.revision,
        position: event.position?.commit ?? 0n,
        type: event.type,
        data: event.data instanceof Uint8Array ? asText(event.data) : event.data,
        metadata: readMetadata(event.metadata, event.created ?? new Date(0)),
        // The client leaves it out when it cannot read it.
        ...(event.created && { recordedAt: event.created.getTime() }),
      }
    : null;

/** The metadata of an event, whoever wrote it. @param created the store's own time */
export const readMetadata = (metadata: unknown, created: Date): EventMetadata =>
  isOurs(metadata) ? metadata : repaired(metadata, created);

const TEXTS = ['correlationId', 'causationId', 'workspaceId', 'actor', 'occurredAt'] as const;

const isOurs = (metadata: unknown): metadata is EventMetadata => {
  const { schemaVersion, occurredAt, ...known } = (metadata ?? {}) as Partial<EventMetadata>;
  return (
    typeof schemaVersion === 'number' &&
    typeof occurredAt === 'string' &&
    !Number.isNaN(Date.parse(occurredAt)) &&
    typeof known.correlationId === 'string' &&
    typeof known.causationId === 'string' &&
    typeof known.workspaceId === 'string' &&
    typeof known.actor === 'string'
  );
};

/**
 * Another program wrote the event: readers get all members of the metadata, empty where they are missing. Version 0
 * exists for no event, so it does not decode. The store's own time stands in for a missing one.
 */
const repaired = (metadata: unknown, created: Date): EventMetadata => {
  const given: Record<string, unknown> =
    typeof metadata === 'object' && metadata !== null && !(metadata instanceof Uint8Array)
      ? { ...metadata }
      : {};
  for (const name of TEXTS) if (typeof given[name] !== 'string') given[name] = '';
  if (Number.isNaN(Date.parse(given['occurredAt'] as string))) given['occurredAt'] = created.toISOString();
  return { ...given, schemaVersion: 0 } as unknown as EventMetadata;
};

/** Bytes that are no JSON are shown, never interpreted. */
const asText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
