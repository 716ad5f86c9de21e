import { EventStoreDBClient } from '@eventstore/db-client';
import monitoringGrpc from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import monitoringPb from '@eventstore/db-client/generated/monitoring_pb.js';
import type { StatsResp } from '@eventstore/db-client/generated/monitoring_pb.js';

/** The embedded store's figure; a real EventStoreDB reports its own over HTTP. */
const EMBEDDED_FIGURE = 'es-grpc-openCalls';
const ANSWER_WITHIN_MS = 20_000;

/**
 * The number of open calls on an event store, of all clients, without this call. Uses `Monitoring.Stats` of the
 * embedded store, and `GET /metrics` of a real EventStoreDB (without TLS).
 */
export const openCalls = async (connectionString: string): Promise<number> =>
  (await ofEmbedded(connectionString)) ?? (await ofReal(connectionString));

interface Internals {
  getGRPCClient(stub: unknown, name: string): Promise<InstanceType<typeof monitoringGrpc.MonitoringClient>>;
  callArguments(options: object, callOptions: object): [never, never];
  getChannel(): Promise<{ close(): void }>;
}

const ofEmbedded = async (connectionString: string): Promise<number | null> => {
  const client = EventStoreDBClient.connectionString(connectionString) as unknown as Internals;
  const stub = await client.getGRPCClient(monitoringGrpc.MonitoringClient, 'stats');
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const request = new monitoringPb.StatsReq();
  request.setRefreshTimePeriodInMs('60000');
  const call = stub.stats(request, ...client.callArguments({}, { deadline }));
  try {
    for await (const answer of call as AsyncIterable<StatsResp>) {
      const figure = answer.getStatsMap().get(EMBEDDED_FIGURE);
      return figure === undefined ? null : Number(figure) - 1;
    }
    return null;
  } finally {
    call.cancel();
    (await client.getChannel()).close();
  }
};

const ofReal = async (connectionString: string): Promise<number> => {
  const { host } = new URL(connectionString.replace(/^esdb(\+discover)?:/, 'http:'));
  const response = await fetch(`http://${host}/metrics`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  const [, figure] =
    /^eventstore_current_incoming_grpc_calls\S* (\d+)|eventstore_incoming_grpc_calls\{[^}]*kind="current"[^}]*\} (\d+)/m.exec(
      await response.text(),
    ) ?? [];
  if (figure === undefined) throw new Error('This event store does not report its open calls');
  return Number(figure);
};
