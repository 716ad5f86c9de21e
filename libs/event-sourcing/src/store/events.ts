import { jsonEvent, type JSONType } from '@eventstore/db-client';
import type { EventToAppend } from '../core/event.js';

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
