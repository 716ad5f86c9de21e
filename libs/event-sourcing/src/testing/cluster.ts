import { once } from 'node:events';
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { startRelay, type Relay } from './relay.js';

/** A node of a stand-in cluster. */
export interface ClusterNode {
  /** `host:port` for clients. */
  readonly node: string;
  /** Between clients and the node: freezes it, kills it, or disturbs its connections. */
  readonly network: Relay;
  /** Calls that clients have open. */
  openCalls(): number;
}

/** Nodes with one log, as a cluster that replicates without delay. */
export interface Cluster {
  /** Names all nodes. */
  readonly connectionString: string;
  readonly nodes: readonly ClusterNode[];
  /**
   * Lets a node lead. `null`: an election is under way.
   * @param stillNamed a former leader, which the nodes name too as long as they do not know that it is dead
   */
  lead(leader: ClusterNode | null, stillNamed?: ClusterNode): void;
  /** Open calls on all nodes. */
  openCalls(): number;
  stop(): Promise<void>;
}

const GOSSIP = '/event_store.client.gossip.Gossip/Read';
const APPEND = /Streams\/(Batch)?Append$/;
/** States of a member. */
const [LEADER, FOLLOWER] = [8, 6];
/** gRPC codes. */
const [NOT_FOUND, UNAVAILABLE] = [5, 14];
/** EventStoreDB's default. */
const MAX_STREAMS = 100;

const { HTTP2_HEADER_PATH: PATH, NGHTTP2_CANCEL: CANCEL, NGHTTP2_FLAG_END_STREAM: END_STREAM } = constants;

/**
 * Starts nodes in front of one store on loopback, without TLS. Each answers gossip itself, and forwards what it does not
 * refuse. Like EventStoreDB's, a node that does not lead refuses calls that require the leader, and no node takes appends
 * while nobody leads. It loses appends that do not require the leader, as EventStoreDB's nodes do after an election, until
 * they follow the new leader: nobody answers these.
 */
export const startCluster = async (
  storePort: number,
  { size = 3, mostStreams = MAX_STREAMS } = {},
): Promise<Cluster> => {
  let leader: string | null = null;
  let named: readonly (string | null)[] = [];
  let nodes: readonly StartedNode[] = [];
  const gossip = (): Buffer =>
    Buffer.concat(nodes.map(({ node }) => memberOf(node, named.includes(node) ? LEADER : FOLLOWER)));
  const treatment = (node: string, headers: IncomingHttpHeaders): Treatment => {
    const isAppend = APPEND.test(String(headers[PATH]));
    if (leader === node) return 'forward';
    if (headers['requires-leader'] === 'true') return leader === null ? NOT_READY : notLeader(leader);
    if (!isAppend) return 'forward';
    return leader === null ? NOT_READY : 'lose';
  };
  nodes = await Promise.all(
    Array.from({ length: size }, () => startNode(storePort, mostStreams, gossip, treatment)),
  );
  const lead: Cluster['lead'] = (next, stillNamed) => {
    leader = next?.node ?? null;
    named = [leader, stillNamed?.node ?? null];
    for (const one of nodes) one.leadershipMoved();
  };
  lead(nodes[0]!);
  return {
    connectionString: `esdb://${nodes.map(({ node }) => node).join(',')}?tls=false`,
    nodes,
    lead,
    openCalls: () => nodes.reduce((sum, one) => sum + one.openCalls(), 0),
    stop: async () => {
      await Promise.all(nodes.map((one) => one.stop()));
    },
  };
};

type Refusal = Readonly<Record<string, string | number>>;
type Treatment = Refusal | 'forward' | 'lose';

const NOT_READY: Refusal = { 'grpc-status': UNAVAILABLE, 'grpc-message': 'Server Is Not Ready' };

const notLeader = (leader: string): Refusal => {
  const [host = '', port = ''] = leader.split(':');
  return {
    'grpc-status': NOT_FOUND,
    'grpc-message': 'Leader info available',
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': port,
  };
};

/** A call of a client. */
interface Call {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  trailers: Refusal | IncomingHttpHeaders;
  /** Ends the call to the store, and keeps the client's. */
  abandon?: () => void;
}

interface StartedNode extends ClusterNode {
  /** Ends the open calls that it now refuses, and leaves those that it now loses without an answer. */
  leadershipMoved(): void;
  stop(): Promise<void>;
}

const startNode = async (
  storePort: number,
  mostStreams: number,
  gossip: () => Buffer,
  treatment: (node: string, headers: IncomingHttpHeaders) => Treatment,
): Promise<StartedNode> => {
  const calls = new Set<Call>();
  let store: ClientHttp2Session | undefined;
  const connected = (): ClientHttp2Session => {
    if (!store || store.closed || store.destroyed)
      store = connect(`http://127.0.0.1:${storePort}`).on('error', () => undefined);
    return store;
  };
  const server = createServer({ settings: { maxConcurrentStreams: mostStreams } });
  server.on('stream', (stream, headers) => {
    const call: Call = { stream, headers, trailers: {} };
    calls.add(call);
    stream.on('error', () => undefined).on('close', () => calls.delete(call));
    stream.on('wantTrailers', () => stream.sendTrailers(call.trailers));
    if (headers[PATH] === GOSSIP) return answer(call, gossip());
    const treated = treatment(node, headers);
    if (treated === 'forward') forward(call, connected());
    else if (treated === 'lose') stream.resume();
    else refuse(call, treated);
  });
  server.on('sessionError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const network = await startRelay((server.address() as AddressInfo).port);
  const node = `127.0.0.1:${network.port}`;
  return {
    node,
    network,
    openCalls: () => calls.size,
    leadershipMoved: () => {
      for (const call of calls) {
        const treated = treatment(node, call.headers);
        if (treated === 'lose') call.abandon?.();
        else if (treated !== 'forward') refuse(call, treated);
      }
    },
    stop: async () => {
      await network.stop();
      store?.destroy();
      for (const { stream } of calls) stream.session?.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

const OK = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** One message of gRPC: not compressed, and its length. */
const answer = (call: Call, message: Buffer): void => {
  call.trailers = { 'grpc-status': 0 };
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  call.stream.respond(OK, { waitForTrailers: true });
  call.stream.end(Buffer.concat([head, message]));
};

const refuse = (call: Call, refused: Refusal): void => {
  call.trailers = refused;
  call.abandon?.();
  // A stream with something left to read stays open.
  call.stream.resume();
  if (call.stream.headersSent) call.stream.end();
  else call.stream.respond({ ...OK, ...refused }, { endStream: true });
};

const forward = (call: Call, store: ClientHttp2Session): void => {
  const { stream } = call;
  const { ':authority': _, ...headers } = call.headers;
  const asked = store.request(headers);
  let answered = false;
  // Only now are the trailers known, however short the answer was.
  const end = (): void => {
    if (answered) stream.end();
    else stream.close(CANCEL);
  };
  call.abandon = () => {
    asked.off('close', end).unpipe(stream);
    asked.close(CANCEL);
    stream.unpipe(asked).resume();
  };
  asked.on('trailers', (trailers: IncomingHttpHeaders) => {
    call.trailers = trailers;
    answered = true;
  });
  asked.on('response', (first, flags) => {
    if (stream.destroyed || stream.headersSent) return;
    answered = (flags & END_STREAM) !== 0;
    stream.respond(first, answered ? { endStream: true } : { waitForTrailers: true });
    if (!answered) asked.pipe(stream, { end: false });
  });
  asked.on('error', () => undefined).on('close', end);
  stream.on('close', () => asked.close(CANCEL));
  stream.pipe(asked);
};

/** `MemberInfo` in `ClusterInfo`: state, is_alive and http_end_point of EventStoreDB's gossip.proto. */
const memberOf = (node: string, state: number): Buffer => {
  const [host = '', port = ''] = node.split(':');
  const endPoint = [0x0a, host.length, ...Buffer.from(host), 0x10, ...varint(Number(port))];
  const member = [0x18, state, 0x20, 1, 0x2a, endPoint.length, ...endPoint];
  return Buffer.from([0x0a, member.length, ...member]);
};

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
