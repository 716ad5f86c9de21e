import { Client as GrpcClient, type ClientReadableStream } from '@grpc/grpc-js';
import type { StoreClient } from './clients/client.js';
import { encodeReadRequest, type ReadRequest } from './read-request.js';

const PATH = '/event_store.client.streams.Streams/Read';

/** A read or a subscription that is under way, or that starts once the client has found a node. */
export interface ReadCall<Answer> {
  /** Rejects when the client finds no node. */
  readonly stream: Promise<ClientReadableStream<Answer>>;
  /**
   * Resolves when the call is cancelled. Destroying its stream would leave it open on the server. A call that has not
   * started is cancelled when it does.
   */
  cancel(): Promise<void>;
}

export interface ReadCallOptions<Answer> {
  readonly decode: (message: Buffer) => Answer;
  /** A follower refuses the call, and names the leader. */
  readonly requiresLeader: boolean;
}

/**
 * Makes a call of `Streams.Read` on the client's channel. The clients have reads of their own. The older one decodes every
 * event twice; the newer one's run in a native library, on a connection that nobody can watch, cancel or close.
 */
export const openReadCall = <Answer>(
  { internals }: StoreClient,
  request: ReadRequest,
  { decode, requiresLeader }: ReadCallOptions<Answer>,
): ReadCall<Answer> => {
  const encoded = encodeReadRequest(request);
  const create = internals.GRPCStreamCreator(GrpcClient, 'read', (calls) =>
    calls.makeServerStreamRequest(
      PATH,
      (bytes: Buffer) => bytes,
      decode,
      encoded,
      ...internals.callArguments({ requiresLeader }, { deadline: Infinity }),
    ),
  );
  const stream = create().then((call) => call.on('error', ignore));
  stream.catch(ignore);
  const cancel = async (): Promise<void> => {
    const call = await stream.catch(ignore);
    // A call that is cancelled in the turn in which it was made stays open: https://github.com/grpc/grpc-node/issues/1652
    await new Promise((resolve) => setImmediate(resolve));
    call?.cancel();
  };
  return { stream, cancel };
};

/** Who reads the stream gets the error too. After that, or before it, an error must not end the process. */
const ignore = (): void => undefined;
