import { setTimeout as delay } from 'node:timers/promises';
import monitoringGrpc from '@eventstore/db-client/generated/monitoring_grpc_pb.js';
import monitoringPb from '@eventstore/db-client/generated/monitoring_pb.js';
import type { StatsResp } from '@eventstore/db-client/generated/monitoring_pb.js';
import { readAddress } from '#event-sourcing/store/address.js';
import { StoreClient } from '#event-sourcing/store/store-client.js';

/** The embedded store's figure; a real EventStoreDB reports its own over HTTP. */
const EMBEDDED_FIGURE = 'es-grpc-openCalls';
const ANSWER_WITHIN_MS = 20_000;
/** A real store counts the call that asks for the embedded figure, until a moment after its end. So it is asked once. */
const real = new Set<string>();
const MOMENT_MS = 500;

/**
 * The number of open calls on an event store, of all clients, without this call. Uses `Monitoring.Stats` of the
 * embedded store, and `GET /metrics` of a real EventStoreDB (without TLS).
 */
export const openCalls = async (connectionString: string): Promise<number> => {
  const url = new URL(connectionString.replace(/^esdb(\+discover)?:/, 'http:'));
  if (!real.has(url.host)) {
    const figure = await ofEmbedded(connectionString);
    if (figure !== null) return figure;
    real.add(url.host);
    await delay(MOMENT_MS);
  }
  return ofReal(url);
};

/** The client does not call this service, but its package has the protocol's stubs. */
class MonitoringClient extends StoreClient {
  async figure(name: string): Promise<string | undefined> {
    const request = new monitoringPb.StatsReq();
    request.setRefreshTimePeriodInMs('60000');
    const given = this.callArguments({ deadline: ANSWER_WITHIN_MS });
    return this.execute(monitoringGrpc.MonitoringClient, 'stats', async (monitoring) => {
      const call = monitoring.stats(request, ...given);
      try {
        for await (const answer of call as AsyncIterable<StatsResp>) return answer.getStatsMap().get(name);
        return undefined;
      } finally {
        call.cancel();
      }
    });
  }
}

const ofEmbedded = async (connectionString: string): Promise<number | null> => {
  const address = readAddress(connectionString);
  const client = new MonitoringClient(address, address.nodes[0]!);
  try {
    const figure = await client.figure(EMBEDDED_FIGURE);
    return figure === undefined ? null : Number(figure) - 1;
  } finally {
    await client.close();
  }
};

const ofReal = async ({ host }: URL): Promise<number> => {
  const response = await fetch(`http://${host}/metrics`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  const [, figure] =
    /^(?:eventstore|kurrentdb)_current_incoming_grpc_calls\S* (\d+)|eventstore_incoming_grpc_calls\{[^}]*kind="current"[^}]*\} (\d+)/m.exec(
      await response.text(),
    ) ?? [];
  if (figure === undefined) throw new Error('This event store does not report its open calls');
  return Number(figure);
};
