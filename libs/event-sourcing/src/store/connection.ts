import { Channel, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js';
import { withDeadline } from '../timing/deadline.js';
import { hostOf, readAddress } from './address.js';
import { openAppendCalls, type AppendCalls } from './append-calls.js';
import { CallSlots } from './call-slots.js';
import type { ClientInternals, OpenClient, StoreClient } from './clients/client.js';
import { findLeader } from './find-leader.js';
import { readGossip } from './gossip.js';
import { observeServerTime, type ServerTime } from './server-time.js';

export interface ConnectionOptions {
  readonly openClient: OpenClient;
  /** `esdb://host:port?tls=false` and the like. */
  readonly connectionString: string;
  /** Whether `http_proxy`, `https_proxy` and `grpc_proxy` of the environment apply; grpc-js obeys them otherwise. */
  readonly proxyFromEnvironment: boolean;
  /** Concurrent reads. */
  readonly reads: number;
  /** Longest wait of a read for a slot. */
  readonly readTimeoutMs: number;
  /** After this, an append stream on a former node has no answers left to give. */
  readonly appendTimeoutMs: number;
  /** The nodes of a cluster. Connections that share it need not find them again through one that fell silent. */
  readonly nodes?: KnownNodes;
  /** Receives what each answer shows of the store's clock. */
  readonly onServerTime?: (time: ServerTime) => void;
}

/** The nodes of a cluster that are known: those of the address, and what they said of others. */
export interface KnownNodes {
  known: readonly string[];
}

/** A client with TCP connections of its own. */
export interface Connection {
  readonly client: StoreClient;
  readonly appends: AppendCalls;
  readonly slots: CallSlots;
  /** Open streaming calls, as the client counts them. */
  openStreams(): { readonly append: number; readonly read: number };
  /** Resolves when the first call knows its node. */
  readonly located: Promise<void>;
  /** Ends every call and closes the TCP connection. */
  close(): Promise<void>;
}

type CallStream = ClientInternals['disposableStreams'] extends Set<infer Stream> ? Stream : never;

/** Longest wait for the answer of one node to who leads. */
const ASK_WITHIN_MS = 500;
/** An election takes up to a few seconds. Then the client's calls fail, and the search starts again. */
export const SEARCH_WITHIN_MS = 5_000;

interface ChannelInternals {
  readonly internalChannel: { readonly credentials: ChannelCredentials; readonly options: ChannelOptions };
}

/**
 * Opens the client with channels of our own options. Each channel has its own TCP connection: with grpc-js's common
 * pool, the replacement of a stuck client would get the same connection again.
 */
export const openConnection = (options: ConnectionOptions): Connection => {
  const { openClient, connectionString, proxyFromEnvironment, reads, readTimeoutMs, appendTimeoutMs } =
    options;
  if (!proxyFromEnvironment) exemptFromProxy(connectionString);
  const client = openClient(connectionString);
  const { internals } = client;
  let [uri, closed] = ['', false];
  let channel: Channel | undefined;

  // The clients ask one node after the other, and each node that is silent costs five seconds.
  const address = readAddress(connectionString);
  const nodes = options.nodes ?? { known: address.nodes };
  const chooseNode = async (): Promise<string> => {
    const gossip = { credentials: address.credentials(), proxyFromEnvironment };
    const ask = (node: string) => readGossip(node, gossip, ASK_WITHIN_MS);
    const { node, known } = await findLeader(nodes.known, ask, SEARCH_WITHIN_MS);
    nodes.known = known;
    return node;
  };
  const resolveUri = internals.resolveUri;
  let foundNode: () => void;
  const located = new Promise<void>((resolve) => (foundNode = resolve));
  // It must not fail: the client would keep the failure as its channel.
  internals.resolveUri = async () => {
    uri = await (address.isCluster ? chooseNode() : resolveUri());
    foundNode();
    return uri;
  };

  const createChannel = internals.createChannel;
  internals.createChannel = async () => {
    // It connects with its first call and gets none: it only supplies the credentials.
    const made = await createChannel();
    const { credentials, options: given } = (made as unknown as ChannelInternals).internalChannel;
    made.close();
    retire(internals.disposableStreams, appendTimeoutMs);
    channel = new Channel(uri, credentials, {
      ...withoutProxy(given),
      ...(proxyFromEnvironment ? {} : { 'grpc.enable_http_proxy': 0 }),
      'grpc.use_local_subchannel_pool': 1,
    });
    if (options.onServerTime) observeServerTime(channel, options.onServerTime);
    if (closed) channel.close();
    return channel;
  };

  return {
    client,
    appends: openAppendCalls(client, appendTimeoutMs),
    slots: new CallSlots(reads, readTimeoutMs),
    located,
    openStreams: () => {
      const streams = [...internals.disposableStreams];
      const append = streams.filter(isAppendStream).length;
      return { append, read: streams.length - append };
    },
    close: async () => {
      closed = true;
      await settledSoon(client.dispose());
      channel?.close();
    },
  };
};

const isAppendStream = (stream: CallStream): boolean => typeof stream.end === 'function';

/**
 * When the client moves to another node, it forgets its append stream, which stays open on the old node. This cancels it
 * once nobody waits for its answers. EventStoreDB and KurrentDB do not end a call of appends whose client has only ended
 * its side, unless an answer is still due.
 */
const retire = (streams: ReadonlySet<CallStream>, afterMs: number): void => {
  const left = [...streams].filter(isAppendStream);
  if (left.length > 0) setTimeout(() => left.forEach((stream) => stream.cancel?.()), afterMs).unref();
};

/** What grpc-js adds to the options of a channel that goes through a proxy. */
const withoutProxy = (given: ChannelOptions): ChannelOptions =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith('grpc.http_connect_')));

/** The client looks for the leader over channels of its own, which only the environment can configure. */
const exemptFromProxy = (connectionString: string): void => {
  const { grpc_proxy, https_proxy, http_proxy, no_grpc_proxy, no_proxy } = process.env;
  if (!(grpc_proxy || https_proxy || http_proxy)) return;
  const exempt = (no_grpc_proxy || no_proxy || '').split(',').filter(Boolean);
  const hosts = readAddress(connectionString)
    .nodes.map(hostOf)
    .filter((host) => !exempt.includes(host));
  process.env['no_grpc_proxy'] = [...exempt, ...hosts].join(',');
};

const LET_GO_WITHIN_MS = 1_000;

/** The client may wait forever for broken streams, so closing waits only for a moment. */
export const settledSoon = (work: Promise<unknown>): Promise<void> =>
  withDeadline(
    LET_GO_WITHIN_MS,
    () => work.then(ignore, ignore),
    () => undefined,
  );

const ignore = (): void => undefined;
