import { Channel, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js';
import { EventStoreDBClient } from '@eventstore/db-client';
import { withDeadline } from '../timing/deadline.js';
import { CallSlots } from './call-slots.js';

export interface ConnectionOptions {
  /** `esdb://host:port?tls=false` and the like. */
  readonly connectionString: string;
  /** Whether `http_proxy`, `https_proxy` and `grpc_proxy` of the environment apply; grpc-js obeys them otherwise. */
  readonly proxyFromEnvironment: boolean;
  /** Reads under way at a time. */
  readonly reads: number;
  /** Longest wait of a read for a slot. */
  readonly readTimeoutMs: number;
  /** After this, an append stream that was left behind by a change of nodes has nothing to answer any more. */
  readonly appendTimeoutMs: number;
}

/** A client with TCP connections that it shares with no other. */
export interface Connection {
  readonly client: EventStoreDBClient;
  readonly slots: CallSlots;
  /** Calls that stream, as the client counts them: begun and not ended. */
  openStreams(): { readonly append: number; readonly read: number };
  /** Ends every call and closes the TCP connection. */
  close(): Promise<void>;
}

type CallStream = NodeJS.ReadableStream & { end?: () => void };

/** What the client's types do not show. */
interface ClientInternals {
  createChannel: () => Promise<Channel>;
  resolveUri: () => Promise<string>;
  supports: () => Promise<boolean>;
  readonly disposableStreams: Set<CallStream>;
}

interface ChannelInternals {
  readonly internalChannel: { readonly credentials: ChannelCredentials; readonly options: ChannelOptions };
}

/**
 * Opens the client with channels of our own options. Each channel has its own TCP connection: with grpc-js's common
 * pool, a client opened in place of one that is stuck would be given the same connection again.
 */
export const openConnection = (options: ConnectionOptions): Connection => {
  const { connectionString, proxyFromEnvironment, reads, readTimeoutMs, appendTimeoutMs } = options;
  if (!proxyFromEnvironment) exemptFromProxy(connectionString);
  const client = EventStoreDBClient.connectionString(connectionString);
  const internals = client as unknown as ClientInternals;
  let [uri, closed] = ['', false];
  let channel: Channel | undefined;

  const resolveUri = internals.resolveUri;
  internals.resolveUri = async () => (uri = await resolveUri());

  const createChannel = internals.createChannel;
  internals.createChannel = async () => {
    // It connects with its first call, and gets none: it is asked for the credentials only.
    const made = await createChannel();
    const { credentials, options: given } = (made as unknown as ChannelInternals).internalChannel;
    made.close();
    retire(internals.disposableStreams, appendTimeoutMs);
    channel = new Channel(uri, credentials, {
      ...withoutProxy(given),
      ...(proxyFromEnvironment ? {} : { 'grpc.enable_http_proxy': 0 }),
      'grpc.use_local_subchannel_pool': 1,
    });
    if (closed) channel.close();
    return channel;
  };

  // The client asks the server once, without a deadline, and keeps an error as the answer for all appends to come. What
  // it asks for, appending in batches, every server since 21.10 can do.
  internals.supports = () => Promise.resolve(true);

  return {
    client,
    slots: new CallSlots(reads, readTimeoutMs),
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
 * When the client goes to another node it forgets the stream of its appends, which stays open on the old one as long as
 * that lives. It is closed here, once nobody waits for its answers: cancelling it, or an error of it, would reject the
 * appends of the new one, because the client keeps the appends of all streams in one bank.
 */
const retire = (streams: ReadonlySet<CallStream>, afterMs: number): void => {
  const left = [...streams].filter(isAppendStream);
  for (const stream of left) {
    const rejecting = stream
      .listeners('error')
      .filter((listener) => String(listener).includes('promiseBank'));
    for (const listener of rejecting) stream.off('error', listener as () => void);
    stream.on('error', () => undefined);
  }
  if (left.length > 0) setTimeout(() => left.forEach((stream) => stream.end?.()), afterMs).unref();
};

/** What grpc-js adds to the options of a channel that goes through a proxy. */
const withoutProxy = (given: ChannelOptions): ChannelOptions =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith('grpc.http_connect_')));

/** The client asks nodes for the leader by channels of its own making, which only the environment reaches. */
const exemptFromProxy = (connectionString: string): void => {
  const { grpc_proxy, https_proxy, http_proxy, no_grpc_proxy, no_proxy } = process.env;
  if (!(grpc_proxy || https_proxy || http_proxy)) return;
  const exempt = (no_grpc_proxy || no_proxy || '').split(',').filter(Boolean);
  const hosts = hostsOf(connectionString).filter((host) => !exempt.includes(host));
  process.env['no_grpc_proxy'] = [...exempt, ...hosts].join(',');
};

/** `esdb://user:password@one:2113,[::1]:2113?…` names `one` and `::1`. */
const hostsOf = (connectionString: string): string[] => {
  const [, authority = ''] = /^[^:]+:\/\/(?:[^/?]*@)?([^/?]*)/.exec(connectionString) ?? [];
  return authority.split(',').map((address) => address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'));
};

const LET_GO_WITHIN_MS = 1_000;

/** The client may wait for ever for streams that broke: what is being given up is waited for a moment only. */
export const settledSoon = (work: Promise<unknown>): Promise<void> =>
  withDeadline(
    LET_GO_WITHIN_MS,
    () => work.then(ignore, ignore),
    () => undefined,
  );

const ignore = (): void => undefined;
