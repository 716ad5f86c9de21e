import { Client, type ChannelCredentials } from '@grpc/grpc-js';
import { ProtobufFields } from './protobuf-fields.js';

const PATH = '/event_store.client.gossip.Gossip/Read';

/** Fields of `ClusterInfo`, `MemberInfo` and `EndPoint` in EventStoreDB's gossip.proto. */
const MEMBERS = 1;
const MEMBER = { state: 3, isAlive: 4, endPoint: 5 } as const;
const END_POINT = { address: 1, port: 2 } as const;
/** `VNodeState`; every other state serves no writes and is on its way to one of these, or away. */
const STATES: Readonly<Record<number, Member['state']>> = { 6: 'follower', 8: 'leader', 14: 'replica' };

/** A node as another one, or it itself, sees it. */
export interface Member {
  /** `host:port` under which clients reach it. */
  readonly node: string;
  /** `other`: it starts, stops, or takes part in an election. */
  readonly state: 'leader' | 'follower' | 'replica' | 'other';
  readonly isAlive: boolean;
}

export interface GossipOptions {
  readonly credentials: ChannelCredentials;
  /** Whether `http_proxy` and the like apply. */
  readonly proxyFromEnvironment: boolean;
}

/**
 * What a node knows of its cluster, over a connection that only this call uses.
 * @throws Error when the node gives no answer within the time
 */
export const readGossip = (
  node: string,
  { credentials, proxyFromEnvironment }: GossipOptions,
  withinMs: number,
): Promise<readonly Member[]> => {
  const client = new Client(node, credentials, {
    'grpc.use_local_subchannel_pool': 1,
    ...(proxyFromEnvironment ? {} : { 'grpc.enable_http_proxy': 0 }),
  });
  return new Promise<readonly Member[]>((resolve, reject) => {
    const deadline = Date.now() + withinMs;
    client.makeUnaryRequest(PATH, asBytes, decodeGossip, null, { deadline }, (error, members) =>
      error ? reject(error) : resolve(members ?? []),
    );
  }).finally(() => client.close());
};

const asBytes = (_: null): Buffer => Buffer.alloc(0);

const decodeGossip = (message: Buffer): readonly Member[] => {
  const members: Member[] = [];
  const answer = new ProtobufFields(message);
  while (answer.next()) if (answer.field === MEMBERS) members.push(memberOf(answer.inner()));
  return members;
};

const memberOf = (fields: ProtobufFields): Member => {
  let [node, state, isAlive] = ['', 0, false];
  while (fields.next()) {
    if (fields.field === MEMBER.state) state = Number(fields.uint64());
    else if (fields.field === MEMBER.isAlive) isAlive = fields.uint64() !== 0n;
    else if (fields.field === MEMBER.endPoint) node = nodeOf(fields.inner());
  }
  return { node, state: STATES[state] ?? 'other', isAlive };
};

const nodeOf = (endPoint: ProtobufFields): string => {
  let [address, port] = ['', 0n];
  while (endPoint.next()) {
    if (endPoint.field === END_POINT.address) address = endPoint.text();
    else if (endPoint.field === END_POINT.port) port = endPoint.uint64();
  }
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
};
