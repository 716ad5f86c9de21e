import { randomUUID } from 'node:crypto';
import { status, type handleServerStreamingCall } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { describeDamage, isDamage } from '../log/environment.js';
import { MAX_UINT64 } from '../log/log-store.js';
import {
  compileFilter,
  readAll,
  readStream,
  subscribeToAll,
  type FilterOptions,
  type ReadFrom,
  type ReadRequest,
} from '../reads/reads.js';
import type { ServerContext } from './context.js';
import { Outlet } from './outlet.js';
import { streamName } from './requests.js';
import { invalidArgument, RpcError, stopping } from './rpc-error.js';

const DEFAULT_SEARCH_WINDOW = 32;

type Options = ReadReq.Options;

const filterOf = (options: Options): FilterOptions | undefined => {
  const filter = options.getFilter();
  if (!filter) return undefined;
  const byStream = filter.getStreamIdentifier();
  const expression = byStream ?? filter.getEventType();
  if (!expression) throw invalidArgument('The filter has no expression.');
  const window = filter.hasMax() ? filter.getMax() : DEFAULT_SEARCH_WINDOW;
  const multiplier = filter.getCheckpointintervalmultiplier();
  if (window < 1) throw invalidArgument("The filter's search window must be at least 1.");
  if (multiplier < 1 && options.hasSubscription()) {
    throw invalidArgument("The filter's checkpoint interval must be at least 1.");
  }
  try {
    const matches = compileFilter({
      on: byStream ? 'stream' : 'type',
      regex: expression.getRegex(),
      prefixes: expression.getPrefixList(),
    });
    return { matches, checkpointEvery: window * Math.max(multiplier, 1) };
  } catch (error) {
    throw error instanceof SyntaxError ? invalidArgument(error.message) : error;
  }
};

const streamFrom = (options: ReadReq.Options.StreamOptions): ReadFrom => {
  if (options.hasRevision()) return BigInt(options.getRevision());
  return options.hasEnd() ? 'end' : 'start';
};

const allFrom = (options: ReadReq.Options.AllOptions): ReadFrom => {
  const position = options.getPosition();
  if (!position) return options.hasEnd() ? 'end' : 'start';
  const commit = BigInt(position.getCommitPosition());
  return commit === MAX_UINT64 ? 'end' : commit;
};

const UNSUPPORTED =
  'The embedded event store neither resolves links nor follows single streams: follow $all.';

/** @throws {RpcError} INVALID_ARGUMENT for an unsupported request */
const parse = (request: ReadReq): ReadRequest => {
  const options = request.getOptions();
  if (!options) throw invalidArgument('The options are missing.');
  const stream = options.getStream();
  const all = options.getAll();
  if (!stream && !all) throw invalidArgument('A read must name a stream or $all.');
  if (options.getResolveLinks() || (stream && options.hasSubscription())) throw invalidArgument(UNSUPPORTED);
  const backwards = options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
  if (options.hasSubscription() && backwards) throw invalidArgument('A subscription can only read forwards.');
  return {
    stream: stream && streamName(stream.getStreamIdentifier()),
    from: stream ? streamFrom(stream) : all ? allFrom(all) : 'start',
    backwards,
    limit: options.hasSubscription() ? undefined : Number(options.getCount()),
    filter: all && filterOf(options),
  };
};

/** Read: finite reads of a stream or of $all, and subscriptions to $all. Responses are sent as encoded bytes. */
export const read =
  (context: ServerContext): handleServerStreamingCall<ReadReq, Buffer> =>
  (call) => {
    const outlet = new Outlet(call, context.calls);
    const run = async (): Promise<void> => {
      if (context.calls.stopping) throw stopping();
      const request = parse(call.request);
      if (request.limit === undefined) {
        const confirmation = new streamsPb.ReadResp.SubscriptionConfirmation().setSubscriptionId(
          randomUUID(),
        );
        await outlet.send(new streamsPb.ReadResp().setConfirmation(confirmation));
        await subscribeToAll(context, request, outlet);
      } else await (request.stream === undefined ? readAll : readStream)(context, request, outlet);
    };
    run().then(
      () => {
        outlet.end();
      },
      (error: unknown) => {
        if (!(error instanceof RpcError)) context.report(`A read failed: ${String(error)}`);
        outlet.fail(
          isDamage(error) ? new RpcError(status.DATA_LOSS, describeDamage(context.store.file, error)) : error,
        );
      },
    );
  };
