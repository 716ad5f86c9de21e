import { jsonEvent, type JSONType } from '@eventstore/db-client';
import type { EventToAppend } from '../core/event.js';
import { MOST_APPEND_BYTES } from './defaults.js';
import { AppendTooLarge } from './errors.js';

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

/** @throws AppendTooLarge */
export const requireSize = (stream: string, events: readonly ReturnType<typeof toClientEvent>[]): void => {
  let bytes = 0;
  for (const { data, metadata } of events)
    bytes += Buffer.byteLength(JSON.stringify(data)) + (metadata as Uint8Array).length;
  if (bytes > MOST_APPEND_BYTES)
    throw new AppendTooLarge(`${bytes} bytes for ${stream} are more than ${MOST_APPEND_BYTES} in one append`);
};
