import { randomUUID } from 'node:crypto';
import type { handleServerStreamingCall, handleUnaryCall } from '@grpc/grpc-js';
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import monitoringPb from '@eventstore/db-client/generated/monitoring_pb.js';
import type { StatsReq, StatsResp } from '@eventstore/db-client/generated/monitoring_pb.js';
import serverFeaturesPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import type { OpenCalls } from './context.js';

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
