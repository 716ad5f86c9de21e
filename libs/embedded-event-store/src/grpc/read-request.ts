import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { MAX_UINT64 } from '../log/keys.js';
import { compileFilter, UnsupportedFilterError, type EventFilter } from '../reads/filter.js';
import { streamName } from './requests.js';
import { invalidArgument } from './rpc-error.js';

/** Where a read starts: a revision, a position, or one of the two ends. */
export type ReadFrom = bigint | 'start' | 'end';

/** A filter on $all. A subscription receives a checkpoint after every `checkpointEvery` scanned events. */
export interface FilterOptions {
  readonly matches: EventFilter;
  readonly checkpointEvery: number;
}

/** A Read call, of a stream or (without `stream`) of $all. Without `limit` it is a subscription. */
export interface ReadRequest {
  readonly stream: string | undefined;
  readonly from: ReadFrom;
  readonly backwards: boolean;
  readonly limit: number | undefined;
  readonly resolveLinks: boolean;
  readonly structuredIds: boolean;
  readonly filter: FilterOptions | undefined;
}

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
    throw error instanceof UnsupportedFilterError ? invalidArgument(error.message) : error;
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

/** @throws {RpcError} INVALID_ARGUMENT for an unsupported request */
export const parseReadRequest = (request: ReadReq): ReadRequest => {
  const options = request.getOptions();
  if (!options) throw invalidArgument('The options are missing.');
  const stream = options.getStream();
  const all = options.getAll();
  if (!stream && !all) throw invalidArgument('A read must name a stream or $all.');
  const backwards = options.getReadDirection() === streamsPb.ReadReq.Options.ReadDirection.BACKWARDS;
  if (options.hasSubscription() && backwards) throw invalidArgument('A subscription can only read forwards.');
  return {
    stream: stream && streamName(stream.getStreamIdentifier()),
    from: stream ? streamFrom(stream) : all ? allFrom(all) : 'start',
    backwards,
    limit: options.hasSubscription() ? undefined : Number(options.getCount()),
    resolveLinks: options.getResolveLinks(),
    structuredIds: options.getUuidOption()?.hasStructured() === true,
    filter: all && filterOf(options),
  };
};
