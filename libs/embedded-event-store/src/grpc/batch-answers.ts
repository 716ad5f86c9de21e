import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import type { ExpectedRevision } from '../streams/append-decision.js';
import { bytesFieldSize, FieldWriter, varint64Size } from '../wire/protobuf.js';

/** google.rpc codes that the protocol uses for each failure. */
const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const RESOURCE_EXHAUSTED = 8;

/** The failure of one append in a batch-append call; the call itself stays open. */
export interface BatchFailure {
  readonly code: number;
  readonly message: string;
  /** Message name of the details in the package event_store.client. */
  readonly type: string;
  readonly details: Uint8Array;
}

const failure = (code: number, message: string, type: string, details: Uint8Array): BatchFailure => ({
  code,
  message,
  type,
  details,
});

export const conflictFailure = (expected: ExpectedRevision, current: bigint): BatchFailure => {
  const details = new sharedPb.WrongExpectedVersion();
  if (current < 0n) details.setCurrentNoStream(new emptyPb.Empty());
  else details.setCurrentStreamRevision(String(current));
  if (expected === 'any') details.setExpectedAny(new emptyPb.Empty());
  else if (expected === 'no_stream') details.setExpectedNoStream(new emptyPb.Empty());
  else if (expected === 'stream_exists') details.setExpectedStreamExists(new emptyPb.Empty());
  else details.setExpectedStreamPosition(String(expected));
  return failure(ALREADY_EXISTS, 'Wrong expected version', 'WrongExpectedVersion', details.serializeBinary());
};

export const deletedFailure = (stream: string): BatchFailure => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  const details = new sharedPb.StreamDeleted();
  details.setStreamIdentifier(identifier);
  return failure(NOT_FOUND, 'Stream deleted', 'StreamDeleted', details.serializeBinary());
};

export const timeoutFailure = (): BatchFailure =>
  failure(DEADLINE_EXCEEDED, 'Timeout', 'Timeout', new sharedPb.Timeout().serializeBinary());

export const tooLargeFailure = (maximum: number): BatchFailure => {
  const details = new sharedPb.MaximumAppendSizeExceeded();
  details.setMaxappendsize(maximum);
  return failure(
    INVALID_ARGUMENT,
    'Maximum append size exceeded',
    'MaximumAppendSizeExceeded',
    details.serializeBinary(),
  );
};

export const badRequestFailure = (message: string): BatchFailure => {
  const details = new sharedPb.BadRequest();
  details.setMessage(message);
  return failure(INVALID_ARGUMENT, message, 'BadRequest', details.serializeBinary());
};

/** Refused before anything was written. Clients show the message when they do not know the details type. */
export const exhaustedFailure = (message: string): BatchFailure => ({
  ...badRequestFailure(message),
  code: RESOURCE_EXHAUSTED,
});

export const unknownFailure = (message: string): BatchFailure =>
  failure(UNKNOWN, message, 'Unknown', new sharedPb.Unknown().serializeBinary());

/** Fields that every response of a batch-append call echoes. */
export interface BatchIdentity {
  readonly correlationId: string;
  readonly stream: string;
  readonly expected: ExpectedRevision;
}

/** Fields of `BatchAppendResp` and of the messages in it. */
const ANSWER = { correlationId: 1, error: 2, success: 3, stream: 4, revision: 5 } as const;
const EXPECTED = { no_stream: 6, any: 7, stream_exists: 8 } as const;
const SUCCESS = { revision: 1, noStream: 2, position: 3, noPosition: 4 } as const;
const POSITION = { commit: 1, prepare: 2 } as const;
const ID_TEXT = 2;
const STREAM_NAME = 3;

/** An encoded `BatchAppendResp`. A message object would cost most of the answer. */
const answerTo = (
  { correlationId, stream, expected }: BatchIdentity,
  field: number,
  outcome: Uint8Array,
): Buffer => {
  const id = Buffer.from(correlationId, 'latin1');
  const name = Buffer.from(stream);
  const idSize = bytesFieldSize(id.length);
  const nameSize = bytesFieldSize(name.length);
  const expectedSize = typeof expected === 'bigint' ? 1 + varint64Size(expected) : bytesFieldSize(0);
  const size =
    bytesFieldSize(idSize) + bytesFieldSize(outcome.length) + bytesFieldSize(nameSize) + expectedSize;
  const writer = new FieldWriter(Buffer.allocUnsafe(size));
  writer.header(ANSWER.correlationId, idSize).bytesField(ID_TEXT, id).bytesField(field, outcome);
  writer.header(ANSWER.stream, nameSize).bytesField(STREAM_NAME, name);
  if (typeof expected === 'bigint') writer.uint64Field(ANSWER.revision, expected);
  else writer.header(EXPECTED[expected], 0);
  return writer.buffer;
};

export const batchSuccess = (
  batch: BatchIdentity,
  revision: bigint,
  position: bigint | undefined,
): Buffer => {
  const positionSize = position === undefined ? 0 : 2 * (1 + varint64Size(position));
  const revisionSize = revision < 0n ? bytesFieldSize(0) : 1 + varint64Size(revision);
  const writer = new FieldWriter(Buffer.allocUnsafe(revisionSize + bytesFieldSize(positionSize)));
  if (revision < 0n) writer.header(SUCCESS.noStream, 0);
  else writer.uint64Field(SUCCESS.revision, revision);
  if (position === undefined) writer.header(SUCCESS.noPosition, 0);
  else {
    writer.header(SUCCESS.position, positionSize);
    writer.uint64Field(POSITION.commit, position).uint64Field(POSITION.prepare, position);
  }
  return answerTo(batch, ANSWER.success, writer.buffer);
};

export const batchFailed = (batch: BatchIdentity, reason: BatchFailure): Buffer => {
  const details = new anyPb.Any();
  details.pack(reason.details, `event_store.client.${reason.type}`);
  const status = new statusPb.Status();
  status.setCode(reason.code);
  status.setMessage(reason.message);
  status.setDetails(details);
  return answerTo(batch, ANSWER.error, status.serializeBinary());
};
