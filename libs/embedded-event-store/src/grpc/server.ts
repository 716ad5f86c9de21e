import { setImmediate as nextTurn } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import monitoringGrpc from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { guarded, type Login } from './authentication.js';
import { batchAppend } from './batch-append.js';
import { getSupportedMethods, readGossip, stats } from './cluster.js';
import type { ServerContext } from './context.js';
import { read } from './read.js';

/** Largest message accepted. The client sends batches of up to 3 MiB. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Concurrent calls per connection (SETTINGS_MAX_CONCURRENT_STREAMS), the same as EventStoreDB. */
const MAX_CALLS_PER_CONNECTION = 100;

/** Milliseconds that a stop waits for ended calls to reach their clients. */
const STOP_GRACE_MS = 2_000;

export interface GrpcServer {
  readonly port: number;
  /** Ends open calls with CANCELLED, responds to accepted appends, and closes the port. */
  readonly stop: () => Promise<void>;
}

/** Those that the service calls. `read` answers with encoded messages. Any other call is UNIMPLEMENTED. */
const { batchAppend: ofAppends, read: ofReads } = streamsGrpc.StreamsService;
const streamsService = {
  batchAppend: ofAppends,
  read: { ...ofReads, responseSerialize: (message: Buffer): Buffer => message },
};

/** Certificate and private key, PEM. */
export interface TlsKeyPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** Accepts TLS only. */
  readonly tls?: TlsKeyPair | undefined;
  /** Required for every call except gossip and the list of features. */
  readonly login?: Login | undefined;
}

const credentialsOf = (tls: TlsKeyPair | undefined): ServerCredentials =>
  tls
    ? ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }])
    : ServerCredentials.createInsecure();

const bind = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });

/** Starts the gRPC server. @throws when it cannot bind the address */
export const startGrpcServer = async (
  context: ServerContext,
  { host, port, tls, login }: Endpoint,
  settled: () => Promise<void>,
): Promise<GrpcServer> => {
  const server = new Server({
    'grpc.max_concurrent_streams': MAX_CALLS_PER_CONNECTION,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
  });
  let boundPort = port;
  const streams = { batchAppend: batchAppend(context), read: read(context) };
  server.addService(streamsService, guarded(streams, login));
  server.addService(monitoringGrpc.MonitoringService, guarded({ stats: stats(context.calls) }, login));
  server.addService(gossipGrpc.GossipService, { read: readGossip(() => ({ host, port: boundPort })) });
  server.addService(serverFeaturesGrpc.ServerFeaturesService, { getSupportedMethods });
  const literal = host.includes(':') ? `[${host}]` : host;
  boundPort = await bind(server, `${literal}:${String(port)}`, credentialsOf(tls));

  const stop = async (): Promise<void> => {
    context.calls.close();
    await settled();
    // The responses to appends that just became durable are written in this event-loop turn.
    await nextTurn();
    context.calls.endAll();
    await new Promise<void>((resolve) => {
      const force = setTimeout(() => {
        server.forceShutdown();
        resolve();
      }, STOP_GRACE_MS);
      server.tryShutdown(() => {
        clearTimeout(force);
        resolve();
      });
    });
  };
  return { port: boundPort, stop };
};
