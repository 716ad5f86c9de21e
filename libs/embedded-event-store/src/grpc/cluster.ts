import { randomUUID } from 'node:crypto';
import type { handleUnaryCall } from '@grpc/grpc-js';
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import serverFeaturesPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';

/** The EventStoreDB version whose protocol this server speaks. Clients choose their calls by it. */
export const PROTOCOL_VERSION = '23.10.0';

const STREAMS = 'event_store.client.streams.streams';

/** The supported methods with their features. Names are lower case, because clients compare them that way. */
const METHODS: readonly (readonly [service: string, method: string, features: readonly string[]])[] = [
  [STREAMS, 'append', []],
  [STREAMS, 'batchappend', []],
  [STREAMS, 'delete', []],
  [STREAMS, 'read', ['position', 'events']],
  [STREAMS, 'tombstone', []],
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
