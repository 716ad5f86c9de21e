import { createHash, timingSafeEqual, randomUUID } from 'node:crypto';
import {
  status,
  Server,
  ServerCredentials,
  type Metadata,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
  type handleServerStreamingCall,
  type handleUnaryCall,
} from '@grpc/grpc-js';
import { RpcError, type OpenCalls, type ServerContext } from './context.js';
import gossipPb, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import monitoringPb, {
  type StatsReq,
  type StatsResp,
} from '@eventstore/db-client/generated/monitoring_pb.js';
import serverFeaturesPb, {
  type SupportedMethods,
} from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb, { type Empty } from '@eventstore/db-client/generated/shared_pb.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import monitoringGrpc from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { batchAppend } from './batch-append.js';
import { read } from './read.js';

/** The single login that a server may require. */
export interface Login {
  readonly username: string;
  readonly password: string;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Why a call is refused, or undefined if it may proceed. A call without credentials is anonymous:
 * PERMISSION_DENIED, not UNAUTHENTICATED.
 */
const refusalOf = (metadata: Metadata, expected: Buffer): RpcError | undefined => {
  const [header] = metadata.get('authorization');
  if (header === undefined) {
    return new RpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
  }
  const [, base64 = ''] = /^Basic +(\S+)$/i.exec(String(header)) ?? [];
  const presented = digest(Buffer.from(base64, 'base64').toString('utf8'));
  return timingSafeEqual(presented, expected)
    ? undefined
    : new RpcError(status.UNAUTHENTICATED, 'The login is not valid.');
};

type Handler = (call: Call) => void;
interface Call {
  readonly metadata: Metadata;
  emit(event: 'error', error: RpcError): boolean;
}

/**
 * Requires the login (HTTP Basic, RFC 7617, in the call's metadata) on every call. A wrong login gets
 * UNAUTHENTICATED without trailers. A missing login gets PERMISSION_DENIED with `exception=access-denied`.
 */
export const guarded = <T extends UntypedServiceImplementation>(handlers: T, login: Login | undefined): T => {
  if (!login) return handlers;
  const expected = digest(`${login.username}:${login.password}`);
  const guard =
    (handler: Handler): Handler =>
    (call) => {
      const refusal = refusalOf(call.metadata, expected);
      if (refusal) call.emit('error', refusal);
      else handler(call);
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      guard(handler as unknown as Handler) as unknown as UntypedHandleCall,
    ]),
  ) as T;
};

/** The EventStoreDB version whose protocol this server speaks. Clients choose their calls by it. */
const PROTOCOL_VERSION = '23.10.0';

const STREAMS = 'event_store.client.streams.streams';

/** The supported methods with their features. Names are lower case, because clients compare them that way. */
const METHODS: readonly (readonly [service: string, method: string, features: readonly string[]])[] = [
  [STREAMS, 'batchappend', []],
  [STREAMS, 'read', ['position', 'events']],
  ['event_store.client.gossip.gossip', 'read', []],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods', []],
];

/** ServerFeatures.GetSupportedMethods. */
export const getSupportedMethods: handleUnaryCall<Empty, SupportedMethods> = (_call, respond) => {
  const response = new serverFeaturesPb.SupportedMethods();
  response.setEventStoreServerVersion(PROTOCOL_VERSION);
  for (const [service, name, features] of METHODS) {
    const method = new serverFeaturesPb.SupportedMethod();
    method.setServiceName(service);
    method.setMethodName(name);
    method.setFeaturesList([...features]);
    response.addMethods(method);
  }
  respond(null, response);
};

/** Gossip.Read: a cluster of one node, which is the leader. */
export const readGossip = (
  endpoint: () => { host: string; port: number },
): handleUnaryCall<Empty, ClusterInfo> => {
  const instanceId = new sharedPb.UUID();
  instanceId.setString(randomUUID());
  return (_call, respond) => {
    const { host, port } = endpoint();
    const address = new gossipPb.EndPoint();
    address.setAddress(host);
    address.setPort(port);
    const member = new gossipPb.MemberInfo();
    member.setInstanceId(instanceId);
    member.setTimeStamp(String(Date.now()));
    member.setState(gossipPb.MemberInfo.VNodeState.LEADER);
    member.setIsAlive(true);
    member.setHttpEndPoint(address);
    const response = new gossipPb.ClusterInfo();
    response.addMembers(member);
    respond(null, response);
  };
};

/** Open calls on the whole server, including the one that asks. */
const OPEN_CALLS = 'es-grpc-openCalls';

const SHORTEST_PERIOD_MS = 100;

/** Monitoring.Stats: sends the figures now and again after each requested period, until the caller disconnects. */
export const stats =
  (calls: OpenCalls): handleServerStreamingCall<StatsReq, StatsResp> =>
  (call) => {
    const forget = calls.add(() => call.end());
    const send = (): void => {
      const response = new monitoringPb.StatsResp();
      response.getStatsMap().set(OPEN_CALLS, String(calls.count));
      call.write(response);
    };
    send();
    const period = Math.max(SHORTEST_PERIOD_MS, Number(call.request.getRefreshTimePeriodInMs()) || 0);
    const timer = setInterval(send, period);
    timer.unref();
    for (const event of ['cancelled', 'close', 'error'] as const)
      call.on(event, () => {
        clearInterval(timer);
        forget();
      });
  };

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
