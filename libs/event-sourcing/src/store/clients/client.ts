import type { Channel, Client as GrpcClient, ClientReadableStream } from '@grpc/grpc-js';
import type { ExpectedRevision } from '../event-store.js';
import type { ClientEvent } from '../events.js';

export interface AppendAnswer {
  readonly nextExpectedRevision: bigint;
  readonly position?: { readonly commit: bigint } | undefined;
}

/** What both clients offer and the adapter uses. Reads and subscriptions are calls of the adapter's own. */
export interface StoreClient {
  append(stream: string, events: readonly ClientEvent[], expected: ExpectedRevision): Promise<AppendAnswer>;
  /** Ends every call. The channel stays. */
  dispose(): Promise<void>;
  readonly internals: ClientInternals;
}

type CallStream = NodeJS.ReadableStream & { end?: () => void };

/** What the types of both clients do not show. Both have it: the newer one was made from the older. */
export interface ClientInternals {
  createChannel: () => Promise<Channel>;
  resolveUri: () => Promise<string>;
  supports: () => Promise<boolean>;
  readonly disposableStreams: Set<CallStream>;
  /** The call is made when the returned function runs, on the client's current channel. */
  GRPCStreamCreator<Answer>(
    stub: typeof GrpcClient,
    name: string,
    create: (calls: GrpcClient) => ClientReadableStream<Answer>,
  ): () => Promise<ClientReadableStream<Answer>>;
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
