import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { EventStoreDBClient, ResolvedEvent, StreamingRead } from '@eventstore/db-client';

/** Events that the server looks at before it looks whether the call still stands. */
const SEARCH_WINDOW = 500;

type ReadAllOptions = NonNullable<Parameters<EventStoreDBClient['readAll']>[0]>;
type ReadCall = (request: streamsPb.ReadReq, ...rest: unknown[]) => unknown;
type Create = (stub: { read: ReadCall }) => unknown;

/** What the client's types do not show. */
interface ClientInternals {
  readonly GRPCStreamCreator: (stub: unknown, name: string, create: Create) => unknown;
  readonly readAll: (options: ReadAllOptions) => StreamingRead<ResolvedEvent>;
}

/**
 * `readAll` of streams whose names match. The protocol and all servers know such reads, the client offers them only for
 * subscriptions. So this adds the filter to the client's own request.
 */
export const readAllMatching = (
  client: EventStoreDBClient,
  pattern: string,
  options: ReadAllOptions,
): StreamingRead<ResolvedEvent> => {
  const internals = client as unknown as ClientInternals;
  const filtered = Object.assign(Object.create(internals) as object, {
    GRPCStreamCreator: (stub: unknown, name: string, create: Create) =>
      internals.GRPCStreamCreator(stub, name, (calls) =>
        create({ read: (request, ...rest) => calls.read(withFilter(request, pattern), ...rest) }),
      ),
  });
  return internals.readAll.call(filtered, options);
};

const withFilter = (request: streamsPb.ReadReq, pattern: string): streamsPb.ReadReq => {
  const { FilterOptions } = streamsPb.ReadReq.Options;
  const names = new FilterOptions.Expression();
  names.setRegex(pattern);
  const filter = new FilterOptions();
  filter.setStreamIdentifier(names);
  filter.setMax(SEARCH_WINDOW);
  filter.setCheckpointintervalmultiplier(1);
  // They are alternatives: the filter takes the place of `no filter`.
  request.getOptions()!.setFilter(filter);
  return request;
};
