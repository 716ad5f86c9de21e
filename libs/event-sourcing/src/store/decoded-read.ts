import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { EventStoreDBClient, StreamingRead } from '@eventstore/db-client';
import type { Client as GrpcClient } from '@grpc/grpc-js';
import type { Transform } from 'node:stream';

/** Events that the server looks at before it looks whether the call still stands. */
const SEARCH_WINDOW = 500;

const { path, requestSerialize } = streamsGrpc.StreamsService.read;

type Create = (stub: { read: (request: streamsPb.ReadReq, ...rest: CallArguments) => unknown }) => unknown;
type CallArguments =
  Parameters<GrpcClient['makeServerStreamRequest']> extends [
    unknown,
    unknown,
    unknown,
    unknown,
    ...infer Rest,
  ]
    ? Rest
    : never;

/** The client's call, with our answers in place of its events. */
type Answering<Call, Answer> = Omit<Call, keyof StreamingRead<unknown>> & StreamingRead<Answer>;

/** What the client's types do not show. */
interface ClientInternals {
  readonly GRPCStreamCreator: (stub: unknown, name: string, create: (stub: GrpcClient) => unknown) => unknown;
}

export interface DecodedReadOptions<Answer> {
  readonly decode: (message: Buffer) => Answer;
  /**
   * Only streams whose names match. The protocol and all servers know such reads of `$all`; the client offers them only
   * for subscriptions.
   */
  readonly pattern?: string | undefined;
  /** Called with each answer as it arrives, before anybody reads it. */
  readonly onAnswer?: (answer: Answer) => void;
}

/**
 * A read or a subscription of the client whose answers are decoded by `decode`, and not by the client.
 * The client builds the request, finds the node, and names the errors, as always.
 * @param open the call, made of the client it is given
 */
export const openDecodedRead = <Call extends object, Answer>(
  client: EventStoreDBClient,
  open: (client: EventStoreDBClient) => Call,
  { decode, pattern, onAnswer }: DecodedReadOptions<Answer>,
): Answering<Call, Answer> => {
  const internals = client as unknown as ClientInternals;
  const decoding = Object.assign(Object.create(client) as EventStoreDBClient, {
    GRPCStreamCreator: (stub: unknown, name: string, create: Create) =>
      internals.GRPCStreamCreator(stub, name, (calls) =>
        create({
          read: (request, ...rest) =>
            calls.makeServerStreamRequest(
              path,
              requestSerialize,
              decode,
              pattern === undefined ? request : withFilter(request, pattern),
              ...rest,
            ),
        }),
      ),
  });
  const call = open(decoding) as unknown as Transform & Answering<Call, Answer>;
  // The client would look here for a message of its own.
  call._transform = (answer: Answer, _encoding, next) => {
    onAnswer?.(answer);
    next(null, answer);
  };
  return call;
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
