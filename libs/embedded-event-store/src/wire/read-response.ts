import type { StoredRecord } from '../log/record.js';
import { bytesFieldSize, FieldWriter, varint64Size } from './protobuf.js';

/** ReadResp content fields. */
const EVENT = 1;
const CONFIRMATION = 2;
const CHECKPOINT = 3;
const STREAM_NOT_FOUND = 4;

/** ReadEvent fields. */
const COMMIT_POSITION = 3;

const uint64FieldSize = (value: bigint): number => 1 + varint64Size(value);

/** A message with one length-delimited field. */
const wrapped = (field: number, content: Uint8Array): Buffer => {
  const writer = new FieldWriter(Buffer.allocUnsafe(bytesFieldSize(content.length)));
  return writer.bytesField(field, content).buffer;
};

/** A ReadResp with an event: the stored message with length prefixes around it. */
export const encodeReadEvent = ({ message, position }: StoredRecord): Buffer => {
  const size = bytesFieldSize(message.length) + uint64FieldSize(position);
  const writer = new FieldWriter(Buffer.allocUnsafe(bytesFieldSize(size)));
  writer.header(EVENT, size).bytesField(1, message).uint64Field(COMMIT_POSITION, position);
  return writer.buffer;
};

/** The first response of a subscription. */
export const encodeConfirmation = (subscriptionId: string): Buffer =>
  wrapped(CONFIRMATION, wrapped(1, Buffer.from(subscriptionId)));

export const encodeCheckpoint = (position: bigint): Buffer => {
  const writer = new FieldWriter(Buffer.allocUnsafe(2 * uint64FieldSize(position)));
  return wrapped(CHECKPOINT, writer.uint64Field(1, position).uint64Field(2, position).buffer);
};

export const encodeStreamNotFound = (stream: string): Buffer =>
  wrapped(STREAM_NOT_FOUND, wrapped(1, wrapped(3, Buffer.from(stream))));
