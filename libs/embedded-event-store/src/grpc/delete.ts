import type { handleUnaryCall } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerContext } from './context.js';
import { expectedNumber, expectedRevision, writableStreamName } from './requests.js';
import {
  invalidArgument,
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
  const outcome = await context.writer[how](stream, expected);
  if (outcome.kind === 'deleted') throw streamDeleted(stream);
  if (outcome.kind === 'conflict') {
    throw wrongExpectedVersion(stream, expectedNumber(expected), outcome.current);
  }
  return outcome.position ?? 0n;
};

const removing =
  <Request extends { getOptions(): Options | undefined }, Response>(
    context: ServerContext,
    how: Remove,
    answer: (position: string) => Response,
  ): handleUnaryCall<Request, Response> =>
  (call, respond) => {
    remove(context, how, call.request.getOptions()).then(
      (position) => respond(null, answer(String(position))),
      (error: unknown) => respond(toRpcError(error)),
    );
  };

/** Delete: hides the stream's events; a later append revives the stream. */
export const deleteStream = (context: ServerContext) =>
  removing<DeleteReq, DeleteResp>(context, 'delete', (position) => {
    const at = new streamsPb.DeleteResp.Position();
    at.setCommitPosition(position);
    at.setPreparePosition(position);
    const response = new streamsPb.DeleteResp();
    response.setPosition(at);
    return response;
  });

/** Tombstone: closes the stream permanently. */
export const tombstoneStream = (context: ServerContext) =>
  removing<TombstoneReq, TombstoneResp>(context, 'tombstone', (position) => {
    const at = new streamsPb.TombstoneResp.Position();
    at.setCommitPosition(position);
    at.setPreparePosition(position);
    const response = new streamsPb.TombstoneResp();
    response.setPosition(at);
    return response;
  });
