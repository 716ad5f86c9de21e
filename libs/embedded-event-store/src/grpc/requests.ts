import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import { MAX_NAME_BYTES, type ProposedEvent } from '../log/record.js';
import type { ExpectedRevision } from '../streams/stream-writer.js';
import { invalidArgument, unknown } from './rpc-error.js';

export const streamIdentifier = (name: string): StreamIdentifier => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(name));
  return identifier;
};

/** A stream name. @throws {RpcError} INVALID_ARGUMENT when it is missing, too long or reserved */
export const streamName = (identifier: StreamIdentifier | undefined): string => {
  const bytes = identifier?.getStreamName_asU8();
  if (!bytes || bytes.length === 0) throw invalidArgument('The stream name is missing.');
  if (bytes.length > MAX_NAME_BYTES) {
    throw invalidArgument(`The stream name is longer than ${String(MAX_NAME_BYTES)} bytes.`);
  }
  const name = Buffer.from(bytes).toString('utf8');
  if (name === '$$' || name.startsWith('$$$$'))
    throw invalidArgument(`The stream name ${name} is not valid.`);
  return name;
};

/** The name of a stream that accepts appends. */
export const writableStreamName = (identifier: StreamIdentifier | undefined): string => {
  const name = streamName(identifier);
  if (name === '$all') throw invalidArgument('Events cannot be appended to $all.');
  return name;
};

const TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical text of an event id or a correlation id. @throws {RpcError} UNKNOWN, as EventStoreDB does */
export const uuidText = (uuid: UUID | undefined): string => {
  const text = uuid?.getString() ?? '';
  if (!TEXT.test(text)) throw unknown('An event id is missing or is not the text of a UUID.');
  return text.toLowerCase();
};

/** The fields that proposed messages of Append and BatchAppend have in common. */
interface ProposedMessage {
  getId(): UUID | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getCustomMetadata_asU8(): Uint8Array;
  getData_asU8(): Uint8Array;
}

/** @throws {RpcError} INVALID_ARGUMENT */
export const proposedEvent = (message: ProposedMessage): ProposedEvent => {
  const properties = message.getMetadataMap();
  const type = properties.get('type');
  const contentType = properties.get('content-type');
  if (type === undefined || contentType === undefined)
    throw invalidArgument('The type or the content type of an event is missing.');
  if (Buffer.byteLength(type) > MAX_NAME_BYTES) {
    throw invalidArgument(`An event type is longer than ${String(MAX_NAME_BYTES)} bytes.`);
  }
  return {
    id: uuidText(message.getId()),
    type,
    contentType: contentType === 'application/json' ? contentType : 'application/octet-stream',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

/** Bytes that an event counts towards the append size limit, as EventStoreDB counts them: two for each character of its type. */
export const appendBytes = ({ type, data, metadata }: ProposedEvent): number =>
  data.length + metadata.length + 2 * type.length;

interface RevisionOption {
  hasRevision(): boolean;
  getRevision(): string;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
}

export const expectedRevision = (options: RevisionOption): ExpectedRevision => {
  if (options.hasRevision()) return BigInt(options.getRevision());
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) throw invalidArgument('The embedded event store has no stream_exists.');
  return 'any';
};
