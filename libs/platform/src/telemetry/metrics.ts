import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Registry, collectDefaultMetrics } from 'prom-client';

/** The metrics of one process. */
export const METRICS = Symbol('Metrics');

/** @param role `api` or `worker`: a label of every metric */
export const createMetrics = (role: string): Registry => {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  return registry;
};

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Answers `GET /metrics` on a port of its own, so that the public one has nothing of it; `null` without a port.
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
