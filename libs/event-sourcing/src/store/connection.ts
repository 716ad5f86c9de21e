import { BACKWARDS, END, NotLeaderError } from '@eventstore/db-client';
import { setTimeout as delay } from 'node:timers/promises';
import { readAddress } from './address.js';
import { openAppends, type Appends } from './appends.js';
import { CallSlots, readPage } from './read-stream.js';
import { StoreUnavailable } from './errors.js';
import { settledSoon, StoreClient } from './store-client.js';

export interface ConnectionOptions {
  /** `esdb://host:port?tls=false` and the like. */
  readonly connectionString: string;
  /** A read fails when it yields nothing, or gets no slot, for this long. */
  readonly readTimeoutMs: number;
  /** An append without an answer within this has an unknown outcome (the client enforces no deadline itself). */
  readonly appendTimeoutMs: number;
}

/** Clients with TCP connections of their own: one for reads and subscriptions, one for appends. */
export interface Connection {
  /** The client of the node that led when it was found. Looks for it with the first call. @throws StoreUnavailable */
  located(): Promise<StoreClient>;
  readonly appends: Appends;
  readonly slots: CallSlots;
  /** Ends every call and closes the TCP connections. */
  close(): Promise<void>;
}

/** Concurrent reads. The server takes 100 calls on a connection, subscriptions and appends included. */
const READS = 60;

/** Opens a connection. It connects with its first call. @throws Error when the address names no node, or files that cannot be read */
export const openConnection = (options: ConnectionOptions): Connection => {
  const { connectionString, readTimeoutMs, appendTimeoutMs } = options;
  const { nodes, isCluster, ...address } = readAddress(connectionString);
  if (nodes.length === 0) throw new Error('The address of the event store names no node');
  // A file that is missing ends the start, not each call.
  if (address.usesTls) address.tls();
  const open = (node: string) => new StoreClient(address, node);
  const find = async (search = isCluster): Promise<StoreClient> =>
    search ? findLeader(nodes, open) : open(nodes[0]!);
  let closed = false;
  let locating: Promise<StoreClient> | null = null;
  const located = async (): Promise<StoreClient> => {
    if (closed) throw new StoreUnavailable('The connection to the event store is closed', false);
    locating ??= find().catch((error: unknown) => {
      locating = null;
      throw error;
    });
    return locating;
  };
  const appends = openAppends((search) => find(search || isCluster), appendTimeoutMs);
  return {
    located,
    appends,
    slots: new CallSlots(READS, readTimeoutMs),
    close: () => {
      closed = true;
      const reading = locating?.then((client) => client.close());
      return settledSoon(Promise.all([reading, appends.close()]));
    },
  };
};

/** An election takes up to a few seconds. Then the calls fail, and the search starts again. */
export const SEARCH_WITHIN_MS = 5_000;
/** Longest wait for the answer of one node. */
const ASK_WITHIN_MS = 500;
const BETWEEN_ROUNDS_MS = 100;

/** What a node is, as its answer to a read that requires the leader shows. */
export type Role = { readonly leads: true } | { readonly leads: false; readonly leader: string };

/** @throws StoreUnavailable when it gives no answer, or when nobody leads */
export const askRole = async (client: StoreClient, withinMs: number): Promise<Role> => {
  const lastEvent = () =>
    client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true });
  try {
    await readPage(new CallSlots(1, withinMs), () => Promise.resolve(lastEvent()), withinMs);
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof NotLeaderError)
      return { leads: false, leader: `${cause.leader.address}:${cause.leader.port}` };
    // A refusal, for example of the login, is an answer.
    if (error instanceof StoreUnavailable) throw error;
  }
  return { leads: true };
};

/**
 * Asks all nodes at once and takes the first leader that answers itself: a follower may name one that has fallen silent.
 * The client's own search asks one node after the other, and each silent one costs five seconds.
 * @throws StoreUnavailable when nobody leads for so long
 */
const findLeader = async (
  nodes: readonly string[],
  open: (node: string) => StoreClient,
): Promise<StoreClient> => {
  const clients = new Map(nodes.map((node) => [node, open(node)]));
  const ask = async (client: StoreClient): Promise<StoreClient> => {
    const role = await askRole(client, ASK_WITHIN_MS);
    if (role.leads) return client;
    if (!clients.has(role.leader)) clients.set(role.leader, open(role.leader));
    throw new Error(`Not this node, but ${role.leader} leads`);
  };
  const until = performance.now() + SEARCH_WITHIN_MS;
  let leader: StoreClient | undefined;
  try {
    while (performance.now() < until) {
      leader = await Promise.any([...clients.values()].map(ask)).catch(() => undefined);
      if (leader) return leader;
      await delay(BETWEEN_ROUNDS_MS);
    }
    throw new StoreUnavailable('No node of the event store leads', false);
  } finally {
    for (const client of clients.values()) if (client !== leader) void client.close();
  }
};
