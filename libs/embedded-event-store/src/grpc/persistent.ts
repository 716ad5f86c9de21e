import type { UntypedHandleCall, handleUnaryCall } from '@grpc/grpc-js';
import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type {
  CreateReq,
  CreateResp,
  DeleteReq,
  DeleteResp,
  GetInfoReq,
  GetInfoResp,
  ListReq,
  ListResp,
  ReplayParkedReq,
  ReplayParkedResp,
  UpdateReq,
  UpdateResp,
} from '@eventstore/db-client/generated/persistent_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { Group } from '../persistent-subscriptions/group.js';
import { ALL, type GroupRecord } from '../persistent-subscriptions/settings.js';
import { sourceOf } from '../persistent-subscriptions/source.js';
import type { ServerContext } from './context.js';
import { subscriptionInfo } from './persistent-info.js';
import { persistentRead } from './persistent-read.js';
import {
  definedGroup,
  groupFilter,
  groupName,
  groupSettings,
  startOf,
  type GroupName,
} from './persistent-requests.js';
import { streamName } from './requests.js';
import {
  groupFailure,
  invalidArgument,
  resourceExhausted,
  RpcError,
  stopping,
  toRpcError,
} from './rpc-error.js';

/** A unary method. */
const unary =
  <Request, Response>(
    { calls, report }: ServerContext,
    answer: (request: Request) => Response | Promise<Response>,
  ): handleUnaryCall<Request, Response> =>
  (call, respond) => {
    const handle = async (): Promise<Response> => {
      if (calls.stopping) throw stopping();
      return answer(call.request);
    };
    handle().then(
      (response) => {
        respond(null, response);
      },
      (error: unknown) => {
        if (!(error instanceof RpcError)) report(`A subscription group call failed: ${String(error)}`);
        respond(toRpcError(error));
      },
    );
  };

const existing = ({ groups }: ServerContext, { source, group }: GroupName): Group => {
  const found = groups.find(source, group);
  if (!found) throw groupFailure('does-not-exist', source, group);
  return found;
};

/** Replaces 'end' with the current end, so that no event is missed between creating a group and joining it. */
const startingAt = (
  { store, now }: ServerContext,
  start: bigint | 'end',
  record: GroupRecord,
): GroupRecord => ({
  ...record,
  startAt: start === 'end' ? sourceOf(store, record, now).last() + 1n : start,
  startedAtEnd: start === 'end',
});

const create =
  (context: ServerContext) =>
  async (request: CreateReq): Promise<CreateResp> => {
    const options = request.getOptions();
    if (!options) throw invalidArgument('The options are missing.');
    const name = definedGroup(options);
    const refusal = context.admission.refusal();
    if (refusal !== undefined) throw resourceExhausted(refusal);
    const created = await context.groups.create(
      startingAt(context, startOf(options), {
        ...name,
        settings: groupSettings(name, options.getSettings()),
        startAt: 0n,
        startedAtEnd: false,
        checkpoint: undefined,
        filter: groupFilter(options),
      }),
    );
    if (!created) throw groupFailure('exists', name.source, name.group);
    return new persistentPb.CreateResp();
  };

const update =
  (context: ServerContext) =>
  async (request: UpdateReq): Promise<UpdateResp> => {
    const options = request.getOptions();
    if (!options) throw invalidArgument('The options are missing.');
    const name = definedGroup(options);
    const group = existing(context, name);
    const settings = groupSettings(name, options.getSettings());
    // The start position applies only until there is a checkpoint.
    const change = (record: GroupRecord) => startingAt(context, startOf(options), { ...record, settings });
    await context.groups.update(group, change);
    return new persistentPb.UpdateResp();
  };

const remove =
  (context: ServerContext) =>
  async (request: DeleteReq): Promise<DeleteResp> => {
    await context.groups.delete(existing(context, groupName(request.getOptions())));
    return new persistentPb.DeleteResp();
  };

const getInfo =
  (context: ServerContext) =>
  (request: GetInfoReq): GetInfoResp => {
    const response = new persistentPb.GetInfoResp();
    response.setSubscriptionInfo(subscriptionInfo(existing(context, groupName(request.getOptions()))));
    return response;
  };

const replayParked =
  (context: ServerContext) =>
  (request: ReplayParkedReq): ReplayParkedResp => {
    const options = request.getOptions();
    const group = existing(context, groupName(options));
    group.replayParked(options?.hasStopAt() ? BigInt(options.getStopAt()) : undefined);
    return new persistentPb.ReplayParkedResp();
  };

const list =
  ({ groups }: ServerContext) =>
  (request: ListReq): ListResp => {
    const of = request.getOptions()?.getListForStream();
    const source = of && (of.hasAll() ? ALL : streamName(of.getStream()));
    const listed = groups.all().filter(({ record }) => source === undefined || record.source === source);
    if (source !== undefined && listed.length === 0) throw groupFailure('does-not-exist', source, '');
    const response = new persistentPb.ListResp();
    response.setSubscriptionsList(listed.map(subscriptionInfo));
    return response;
  };

const restartSubsystem = (context: ServerContext) => async (): Promise<Empty> => {
  await context.groups.restart();
  return new sharedPb.Empty();
};

/** The service PersistentSubscriptions. */
export const persistentSubscriptions = (context: ServerContext): Record<string, UntypedHandleCall> => ({
  create: unary(context, create(context)),
  update: unary(context, update(context)),
  delete: unary(context, remove(context)),
  getInfo: unary(context, getInfo(context)),
  replayParked: unary(context, replayParked(context)),
  list: unary(context, list(context)),
  restartSubsystem: unary(context, restartSubsystem(context)),
  read: persistentRead(context),
});
