import type { handleClientStreamingCall, ServerReadableStream } from '@grpc/grpc-js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent } from '../log/record.js';
import type { ExpectedRevision } from '../streams/append-decision.js';
import type { WriteOutcome } from '../streams/stream-writer.js';
import { withinCommitTimeout } from './commit-timeout.js';
import type { ServerContext } from './context.js';
import { appendBytes, expectedRevision, proposedEvent, writableStreamName } from './requests.js';
import {
  commitTimedOut,
  invalidArgument,
  maximumAppendSizeExceeded,
  resourceExhausted,
  stoppingWrites,
  streamDeleted,
  toRpcError,
} from './rpc-error.js';

interface AppendRequest {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
}

const receive = async (
  call: ServerReadableStream<AppendReq, AppendResp>,
  maxBytes: number,
): Promise<AppendRequest> => {
  let target: { stream: string; expected: ExpectedRevision } | undefined;
  const events: ProposedEvent[] = [];
  let bytes = 0;
  for await (const message of call as AsyncIterable<AppendReq>) {
    const options = message.getOptions();
    const proposed = message.getProposedMessage();
    if (options) {
      target = {
        stream: writableStreamName(options.getStreamIdentifier()),
        expected: expectedRevision(options),
      };
    } else if (proposed) {
      const event = proposedEvent(proposed);
      bytes += appendBytes(event);
      if (bytes > maxBytes) throw maximumAppendSizeExceeded(maxBytes);
      events.push(event);
    }
  }
  if (!target) throw invalidArgument('The first message of an append must carry its options.');
  return { ...target, events };
};

const success = ({ revision, position }: Extract<WriteOutcome, { kind: 'written' }>): AppendResp => {
  const result = new streamsPb.AppendResp.Success();
  if (revision < 0n) result.setNoStream(new sharedPb.Empty());
  else result.setCurrentRevision(String(revision));
  if (position === undefined) {
    result.setNoPosition(new sharedPb.Empty());
  } else {
    const at = new streamsPb.AppendResp.Position();
    at.setCommitPosition(String(position));
    at.setPreparePosition(String(position));
    result.setPosition(at);
  }
  const response = new streamsPb.AppendResp();
  response.setSuccess(result);
  return response;
};

const conflict = (expected: ExpectedRevision, current: bigint): AppendResp => {
  const result = new streamsPb.AppendResp.WrongExpectedVersion();
  if (current < 0n) result.setCurrentNoStream(new sharedPb.Empty());
  else result.setCurrentRevision(String(current));
  if (expected === 'any') result.setExpectedAny(new sharedPb.Empty());
  else if (expected === 'no_stream') result.setExpectedNoStream(new sharedPb.Empty());
  else if (expected === 'stream_exists') result.setExpectedStreamExists(new sharedPb.Empty());
  else result.setExpectedRevision(String(expected));
  const response = new streamsPb.AppendResp();
  response.setWrongExpectedVersion(result);
  return response;
};

/** Append: one append per call. Options come first, then the events. A conflict is a response, not an error. */
export const append =
  (context: ServerContext): handleClientStreamingCall<AppendReq, AppendResp> =>
  (call, respond) => {
    const handle = async (): Promise<AppendResp> => {
      if (context.calls.stopping) throw stoppingWrites();
      const { stream, expected, events } = await receive(call, context.limits.maxAppendBytes);
      const refusal = context.admission.refusal();
      if (refusal !== undefined) throw resourceExhausted(refusal);
      const write = context.writer.append(stream, expected, events);
      const outcome = await withinCommitTimeout(write, context.limits.commitTimeoutMs);
      if (outcome.kind === 'timed-out') throw commitTimedOut();
      if (outcome.kind === 'deleted') throw streamDeleted(stream);
      return outcome.kind === 'conflict' ? conflict(expected, outcome.current) : success(outcome);
    };
    handle().then(
      (response) => {
        respond(null, response);
      },
      (error: unknown) => {
        respond(toRpcError(error));
      },
    );
  };
