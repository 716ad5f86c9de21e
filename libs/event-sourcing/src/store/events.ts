import type { EventToAppend } from '../core/event.js';
import { MOST_APPEND_BYTES } from './defaults.js';
import { AppendTooLarge } from './errors.js';

/** A JSON event as both clients send it. */
export interface ClientEvent {
  readonly id: string;
  readonly contentType: 'application/json';
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Uint8Array;
}

const utf8 = new TextEncoder();

/** Sends metadata as bytes: it then skips the Base64 step that data takes. */
export const toClientEvent = (event: EventToAppend): ClientEvent => ({
  id: event.id,
  contentType: 'application/json',
  type: event.type,
  data: event.data as ClientEvent['data'],
  metadata: utf8.encode(
    JSON.stringify({
      ...event.metadata,
      $correlationId: event.metadata.correlationId,
      $causationId: event.metadata.causationId,
    }),
  ),
});

/** @throws AppendTooLarge */
export const requireSize = (stream: string, events: readonly ClientEvent[]): void => {
  let bytes = 0;
  for (const { data, metadata } of events) bytes += Buffer.byteLength(JSON.stringify(data)) + metadata.length;
  if (bytes > MOST_APPEND_BYTES)
    throw new AppendTooLarge(`${bytes} bytes for ${stream} are more than ${MOST_APPEND_BYTES} in one append`);
};
