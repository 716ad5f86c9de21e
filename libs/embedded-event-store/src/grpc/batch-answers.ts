import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ExpectedRevision } from '../streams/append-decision.js';

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

const answerTo = ({ correlationId, stream, expected }: BatchIdentity): BatchAppendResp => {
  const response = new streamsPb.BatchAppendResp();
  const id = new sharedPb.UUID();
  id.setString(correlationId);
  response.setCorrelationId(id);
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  response.setStreamIdentifier(identifier);
  if (expected === 'any') response.setAny(new emptyPb.Empty());
  else if (expected === 'no_stream') response.setNoStream(new emptyPb.Empty());
  else if (expected === 'stream_exists') response.setStreamExists(new emptyPb.Empty());
  else response.setStreamPosition(String(expected));
  return response;
};

export const batchSuccess = (
  batch: BatchIdentity,
  revision: bigint,
  position: bigint | undefined,
): BatchAppendResp => {
  const success = new streamsPb.BatchAppendResp.Success();
  if (revision < 0n) success.setNoStream(new emptyPb.Empty());
  else success.setCurrentRevision(String(revision));
  if (position === undefined) {
    success.setNoPosition(new emptyPb.Empty());
  } else {
    const at = new sharedPb.AllStreamPosition();
    at.setCommitPosition(String(position));
    at.setPreparePosition(String(position));
    success.setPosition(at);
  }
  const response = answerTo(batch);
  response.setSuccess(success);
  return response;
};

export const batchFailed = (batch: BatchIdentity, reason: BatchFailure): BatchAppendResp => {
  const details = new anyPb.Any();
  details.pack(reason.details, `event_store.client.${reason.type}`);
  const status = new statusPb.Status();
  status.setCode(reason.code);
  status.setMessage(reason.message);
  status.setDetails(details);
  const response = answerTo(batch);
  response.setError(status);
  return response;
};
