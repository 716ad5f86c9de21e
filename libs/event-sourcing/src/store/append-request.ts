import type { EventToAppend } from '../core/event.js';
import { MOST_APPEND_BYTES } from './defaults.js';
import { AppendTooLarge } from './errors.js';
import type { ExpectedRevision } from './event-store.js';
import { ProtobufWriter } from './protobuf-writer.js';

/**
 * One append of a call that carries many. Source: `BatchAppendReq` in streams.proto of EventStoreDB and KurrentDB. It names
 * no deadline: that is an instant by our clock, and a server whose clock is ahead would refuse every append. The server's
 * own time limit applies.
 */
export interface AppendRequest {
  /** A UUID. The answer repeats it. */
  readonly correlationId: string;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly EventToAppend[];
}

const REQUEST = { correlationId: 1, options: 2, message: 3, isFinal: 4 } as const;
const OPTIONS = { stream: 1, revision: 2, noStream: 3 } as const;
const STREAM_NAME = 3;
const MESSAGE = { id: 1, properties: 2, metadata: 3, data: 4 } as const;
const ID_TEXT = 2;
const MAP = { key: 1, value: 2 } as const;

/** Heads, ids and names beside data and metadata; more costs a copy. */
const USUAL_BYTES = 256;

/**
 * @returns an encoded `BatchAppendReq` with all events
 * @throws AppendTooLarge
 */
export const encodeAppendRequest = (request: AppendRequest): Buffer => {
  const { correlationId, stream, events } = request;
  const encoded = events.map((event) => ({
    ...event,
    data: JSON.stringify(event.data),
    metadata: metadataOf(event),
  }));
  // As the server counts them: types twice.
  let bytes = 0;
  for (const { type, data, metadata } of encoded)
    bytes += Buffer.byteLength(data) + Buffer.byteLength(metadata) + 2 * type.length;
  if (bytes > MOST_APPEND_BYTES)
    throw new AppendTooLarge(`${bytes} bytes for ${stream} are more than ${MOST_APPEND_BYTES} in one append`);
  const writer = new ProtobufWriter(bytes + USUAL_BYTES * (events.length + 1));
  writer.varint(REQUEST.isFinal, 1);
  for (const event of encoded.toReversed()) writer.message(REQUEST.message, () => writeEvent(writer, event));
  writer.message(REQUEST.options, () => writeOptions(writer, request));
  writer.message(REQUEST.correlationId, () => writer.text(ID_TEXT, correlationId));
  return writer.done();
};

const metadataOf = ({ metadata }: EventToAppend): string =>
  JSON.stringify({
    ...metadata,
    $correlationId: metadata.correlationId,
    $causationId: metadata.causationId,
  });

interface EncodedEvent extends Pick<EventToAppend, 'id' | 'type'> {
  /** JSON, as the metadata. */
  readonly data: string;
  readonly metadata: string;
}

const writeEvent = (writer: ProtobufWriter, { id, type, data, metadata }: EncodedEvent): void => {
  writer.text(MESSAGE.data, data);
  writer.text(MESSAGE.metadata, metadata);
  writeProperty(writer, 'type', type);
  writeProperty(writer, 'content-type', 'application/json');
  writer.message(MESSAGE.id, () => writer.text(ID_TEXT, id));
};

const writeProperty = (writer: ProtobufWriter, key: string, value: string): void => {
  writer.message(MESSAGE.properties, () => {
    writer.text(MAP.value, value);
    writer.text(MAP.key, key);
  });
};

const writeOptions = (writer: ProtobufWriter, { stream, expected }: AppendRequest): void => {
  if (typeof expected === 'bigint') writer.varint(OPTIONS.revision, expected);
  else writer.message(OPTIONS.noStream);
  writer.message(OPTIONS.stream, () => writer.text(STREAM_NAME, stream));
};
