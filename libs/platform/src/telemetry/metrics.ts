import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Registry, collectDefaultMetrics } from 'prom-client';

/** The metrics of one process. */
export const METRICS = Symbol('Metrics');

/**
 * How often the event loop's delay is sampled (ms). prom-client's default of 10 makes Node's metrics cost twice as much
 * CPU.
 */
const EVENT_LOOP_PRECISION_MS = 100;

/**
 * @param role `api` or `worker`: a label of every metric
 * @param isServed whether the metrics are served: Node's own metrics are not free
 */
export const createMetrics = (role: string, isServed: boolean): Registry => {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  if (isServed) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  }
  return registry;
};

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Answers `GET /metrics` on its own port, never on the public one; `null` without a port.
 * @throws when the port is taken
 */
export const serveMetrics = async (
  registry: Registry,
  { METRICS_PORT: port, METRICS_HOST: host }: { METRICS_PORT?: number | undefined; METRICS_HOST: string },
): Promise<MetricsServer | null> => {
  if (port === undefined) return null;
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
