import type { StoredEvent } from '../core/event.js';
import { readMetadata } from './metadata.js';
import { ProtobufFields } from './protobuf-fields.js';

/** What one message of a read or of a subscription says. */
export interface ReadAnswer<E = StoredEvent> {
  /** `null`: a link whose event is gone. Absent: no event, but for example that the stream does not exist. */
  readonly event?: E | null;
  /** Of a subscription: commit position up to which no matching event is missing. */
  readonly checkpoint?: bigint;
}

/** Fields of `ReadResp`, `Checkpoint`, `ReadEvent` and `RecordedEvent` in EventStoreDB's streams.proto, and of maps. */
const ANSWER = { event: 1, checkpoint: 3 } as const;
const CHECKPOINT_COMMIT = 1;
const READ = { event: 1, link: 2 } as const;
const RECORDED = {
  id: 1,
  stream: 2,
  revision: 3,
  commitPosition: 5,
  systemMetadata: 6,
  metadata: 7,
  data: 8,
} as const;
const ID_TEXT = 2;
const STREAM_NAME = 3;
const MAP_KEY = 1;
const MAP_VALUE = 2;

const NOTHING = {};
/** .NET counts time in units of 100 ns since 1970. */
const TICKS_PER_MS = 10_000n;

/**
 * Decodes a message of the server's `Read` call. The client would make a protobuf message of it, then an event of its
 * own: both cost more than the JSON itself.
 * @param message a `ReadResp` whose ids are text, as the client requests them
 * @throws Error when the message is cut off
 */
export const decodeReadAnswer = (message: Buffer): ReadAnswer => answerOf(message, recordedEvent);

const answerOf = <E>(message: Buffer, eventOf: (recorded: ProtobufFields) => E): ReadAnswer<E> => {
  const answer = new ProtobufFields(message);
  while (answer.next()) {
    if (answer.field === ANSWER.event) return { event: resolved(answer.inner(), eventOf) };
    if (answer.field === ANSWER.checkpoint) return { checkpoint: commitOf(answer.inner()) };
  }
  return NOTHING;
};

const commitOf = (checkpoint: ProtobufFields): bigint => {
  while (checkpoint.next()) if (checkpoint.field === CHECKPOINT_COMMIT) return checkpoint.uint64();
  return 0n;
};

/** The event itself, or the one that a link leads to. */
const resolved = <E>(read: ProtobufFields, eventOf: (recorded: ProtobufFields) => E): E | null => {
  while (read.next()) if (read.field === READ.event) return eventOf(read.inner());
  return null;
};

const recordedEvent = (recorded: ProtobufFields): StoredEvent => {
  let [id, stream, data] = ['', '', ''];
  let metadata: unknown;
  let [revision, position] = [0n, 0n];
  const system: SystemMetadata = { type: '<no-event-type-provided>', isJson: false, created: 0 };
  while (recorded.next()) {
    switch (recorded.field) {
      case RECORDED.id:
        id = textOf(recorded.inner(), ID_TEXT);
        break;
      case RECORDED.stream:
        stream = textOf(recorded.inner(), STREAM_NAME);
        break;
      case RECORDED.revision:
        revision = recorded.uint64();
        break;
      case RECORDED.commitPosition:
        position = recorded.uint64();
        break;
      case RECORDED.systemMetadata:
        readSystemMetadata(recorded.inner(), system);
        break;
      case RECORDED.metadata:
        metadata = parsed(recorded.text(), undefined);
        break;
      case RECORDED.data:
        data = recorded.text();
    }
  }
  const { type, isJson, created } = system;
  return {
    id,
    stream,
    revision,
    position,
    type,
    data: isJson ? parsed(data, data) : data,
    metadata: readMetadata(metadata, created),
    recordedAt: created,
  };
};

interface SystemMetadata {
  type: string;
  isJson: boolean;
  /** Milliseconds since 1970. */
  created: number;
}

/** One entry of the map that the server writes beside the event. */
const readSystemMetadata = (entry: ProtobufFields, system: SystemMetadata): void => {
  let [key, value] = ['', ''];
  while (entry.next()) {
    if (entry.field === MAP_KEY) key = entry.text();
    else if (entry.field === MAP_VALUE) value = entry.text();
  }
  if (key === 'type') system.type = value;
  else if (key === 'content-type') system.isJson = value === 'application/json';
  else if (key === 'created') system.created = millisecondsOf(value);
};

const textOf = (message: ProtobufFields, field: number): string => {
  while (message.next()) if (message.field === field) return message.text();
  return '';
};

/** The time of an event without a readable one is 1970, as in the client. */
const millisecondsOf = (ticks: string): number => {
  try {
    return Number(BigInt(ticks) / TICKS_PER_MS);
  } catch {
    return 0;
  }
};

const parsed = (text: string, otherwise: unknown): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return otherwise;
  }
};
