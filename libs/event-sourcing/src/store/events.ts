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
        data: event.data,
        metadata: event.metadata as unknown as EventMetadata,
        // The client leaves it out when it cannot read it.
        ...(event.created && { recordedAt: event.created.getTime() }),
      }
    : null;
