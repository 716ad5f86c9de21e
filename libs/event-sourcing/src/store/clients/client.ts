import type { Channel, Client as GrpcClient } from '@grpc/grpc-js';

/** What both clients offer and the adapter uses. Appends, reads and subscriptions are calls of the adapter's own. */
export interface StoreClient {
  /** Ends every call. The channel stays. */
  dispose(): Promise<void>;
  readonly internals: ClientInternals;
}

type CallStream = NodeJS.ReadableStream & { end?: () => void; cancel?: () => void };

/** What the types of both clients do not show. Both have it: the newer one was made from the older. */
export interface ClientInternals {
  createChannel: () => Promise<Channel>;
  resolveUri: () => Promise<string>;
  readonly disposableStreams: Set<CallStream>;
  /**
   * The call is made when the returned function runs, on the client's current channel.
   * @param cache as long as its call of this channel stands, the function returns that one
   */
  GRPCStreamCreator<Call extends NodeJS.ReadableStream>(
    stub: typeof GrpcClient,
    name: string,
    create: (calls: GrpcClient) => Call,
    cache?: WeakMap<GrpcClient, Call>,
  ): () => Promise<Call>;
  callArguments(
    options: { readonly requiresLeader?: boolean },
    callOptions: { readonly deadline: number },
  ): Parameters<GrpcClient['makeServerStreamRequest']> extends [
    unknown,
    unknown,
    unknown,
    unknown,
    ...infer Rest,
  ]
    ? Required<Rest>
    : never;
}

/** Opens a client. It connects with its first call. */
export type OpenClient = (connectionString: string) => StoreClient;
