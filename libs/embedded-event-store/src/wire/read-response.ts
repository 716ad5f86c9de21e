import jspb from 'google-protobuf';
import type { StoredRecord } from '../log/record.js';

/** A `ReadResp` with one field, whose message `write` fills: written by hand, so that no event is decoded for it. */
const response = (field: number, write: (content: jspb.BinaryWriter) => void): Buffer => {
  const writer = new jspb.BinaryWriter();
  writer.writeMessage(field, true, (_, content) => write(content));
  return Buffer.from(writer.getResultBuffer());
};

/** A ReadResp with an event: the stored message with length prefixes around it, and its commit position. */
export const encodeReadEvent = ({ message, position }: StoredRecord): Buffer =>
  response(1, (event) => {
    event.writeBytes(1, message);
    event.writeUint64String(3, String(position));
  });

/** The first response of a subscription. */
export const encodeConfirmation = (subscriptionId: string): Buffer =>
  response(2, (confirmation) => confirmation.writeString(1, subscriptionId));

export const encodeCheckpoint = (position: bigint): Buffer =>
  response(3, (checkpoint) => {
    for (const field of [1, 2]) checkpoint.writeUint64String(field, String(position));
  });

export const encodeStreamNotFound = (stream: string): Buffer =>
  response(4, (notFound) =>
    notFound.writeMessage(1, stream, (name: string, identifier) =>
      identifier.writeBytes(3, Buffer.from(name)),
    ),
  );
