import type { handleUnaryCall } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import { withinCommitTimeout, type ServerContext } from './context.js';
import { expectedNumber, expectedRevision, writableStreamName } from './requests.js';
import {
  commitTimedOut,
  invalidArgument,
  resourceExhausted,
  stoppingWrites,
  streamDeleted,
  toRpcError,
  wrongExpectedVersion,
} from './rpc-error.js';

type Options =
  | NonNullable<ReturnType<DeleteReq['getOptions']>>
  | NonNullable<ReturnType<TombstoneReq['getOptions']>>;
type Remove = 'delete' | 'tombstone';

const remove = async (context: ServerContext, how: Remove, options: Options | undefined): Promise<bigint> => {
  if (context.calls.stopping) throw stoppingWrites();
  if (!options) throw invalidArgument('The options are missing.');
  const stream = writableStreamName(options.getStreamIdentifier());
  const expected = expectedRevision(options);
  const refusal = context.admission.refusal();
  if (refusal !== undefined) throw resourceExhausted(refusal);
  const outcome = await withinCommitTimeout(
    context.writer[how](stream, expected),
    context.limits.commitTimeoutMs,
  );
  if (outcome.kind === 'timed-out') throw commitTimedOut();
  if (outcome.kind === 'deleted') throw streamDeleted(stream);
  if (outcome.kind === 'conflict') {
    throw wrongExpectedVersion(stream, expectedNumber(expected), outcome.current);
  }
  return outcome.position ?? 0n;
};

/** Delete: hides the stream's events; a later append revives the stream. */
export const deleteStream =
  (context: ServerContext): handleUnaryCall<DeleteReq, DeleteResp> =>
  (call, respond) => {
    remove(context, 'delete', call.request.getOptions()).then(
      (position) => {
        const at = new streamsPb.DeleteResp.Position();
        at.setCommitPosition(String(position));
        at.setPreparePosition(String(position));
        const response = new streamsPb.DeleteResp();
        response.setPosition(at);
        respond(null, response);
      },
      (error: unknown) => {
        respond(toRpcError(error));
      },
    );
  };

/** Tombstone: closes the stream permanently. */
export const tombstoneStream =
  (context: ServerContext): handleUnaryCall<TombstoneReq, TombstoneResp> =>
  (call, respond) => {
    remove(context, 'tombstone', call.request.getOptions()).then(
      (position) => {
        const at = new streamsPb.TombstoneResp.Position();
        at.setCommitPosition(String(position));
        at.setPreparePosition(String(position));
        const response = new streamsPb.TombstoneResp();
        response.setPosition(at);
        respond(null, response);
      },
      (error: unknown) => {
        respond(toRpcError(error));
      },
    );
  };
