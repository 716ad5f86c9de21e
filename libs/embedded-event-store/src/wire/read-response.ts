import { ID_FIELD_BYTES, type StoredRecord } from '../log/record.js';
import type { ResolvedRecord } from '../reads/resolve-link.js';
import { bytesFieldSize, FieldWriter, varint64Size } from './protobuf.js';
import { uuidHalves } from './uuid.js';

/** ReadResp content fields. */
const EVENT = 1;
const CONFIRMATION = 2;
const CHECKPOINT = 3;
const STREAM_NOT_FOUND = 4;
const CAUGHT_UP = 8;

/** ReadEvent fields. */
const COMMIT_POSITION = 3;

const uint64FieldSize = (value: bigint): number => 1 + varint64Size(value);

/** A message with one length-delimited field. */
const wrapped = (field: number, content: Uint8Array): Buffer => {
  const writer = new FieldWriter(Buffer.allocUnsafe(bytesFieldSize(content.length)));
  return writer.bytesField(field, content).buffer;
};

/** The stored message, with the id in the structured form (two signed 64-bit halves) instead of text. */
const withStructuredId = (record: StoredRecord): Buffer => {
  const { mostSignificant, leastSignificant } = uuidHalves(record.id);
  const halves = [BigInt.asUintN(64, mostSignificant), BigInt.asUintN(64, leastSignificant)] as const;
  const size = uint64FieldSize(halves[0]) + uint64FieldSize(halves[1]);
  const structured = new FieldWriter(Buffer.allocUnsafe(size));
  structured.uint64Field(1, halves[0]).uint64Field(2, halves[1]);
  const id = wrapped(1, wrapped(1, structured.buffer));
  return Buffer.concat([id, record.message.subarray(ID_FIELD_BYTES)]);
};

/** A ReadResp with an event: the stored message with length prefixes around it. */
export const encodeReadEvent = ({ event, link }: ResolvedRecord, structuredIds: boolean): Buffer => {
  const message = (record: StoredRecord): Buffer =>
    structuredIds ? withStructuredId(record) : record.message;
  const eventMessage = event && message(event);
  const linkMessage = link && message(link);
  const position = (link ?? event)?.position ?? 0n;
  const size =
    (eventMessage ? bytesFieldSize(eventMessage.length) : 0) +
    (linkMessage ? bytesFieldSize(linkMessage.length) : 0) +
    uint64FieldSize(position);
  const writer = new FieldWriter(Buffer.allocUnsafe(bytesFieldSize(size)));
  writer.header(EVENT, size);
  if (eventMessage) writer.bytesField(1, eventMessage);
  if (linkMessage) writer.bytesField(2, linkMessage);
  writer.uint64Field(COMMIT_POSITION, position);
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

export const encodeCaughtUp = (): Buffer => wrapped(CAUGHT_UP, Buffer.alloc(0));
