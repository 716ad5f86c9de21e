import type { Registry } from 'prom-client';
import type { Config } from '../config/settings.js';
import { announce } from '../process/stopping.js';
import { within } from '../async/within.js';
import { serveMetrics } from './metrics.js';
import { startTracing } from './tracing.js';

/** The last spans are sent, or dropped after this time (ms): an unavailable collector must not delay a restart. */
const LAST_SPANS_WITHIN_MS = 1_500;

export interface Telemetry {
  /** Serves the process's metrics, if a port is set for them. */
  serve(registry: Registry, config: Pick<Config, 'METRICS_PORT' | 'METRICS_HOST'>): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Call it before the process does anything else. If a setting is unusable, it prints why to standard error and exits 1.
 */
export const startTelemetry = async (name: string, environment: NodeJS.ProcessEnv): Promise<Telemetry> => {
  const stopTracing = await startTracing(name, environment).catch((error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  });
  let close = (): Promise<unknown> => Promise.resolve();
  return {
    async serve(registry, config) {
      const server = await serveMetrics(registry, config);
      if (!server) return;
      close = () => server.close();
      announce({ event: 'metrics', host: config.METRICS_HOST, port: server.port });
    },
    async stop() {
      await Promise.allSettled([close(), within(LAST_SPANS_WITHIN_MS, stopTracing())]);
    },
  };
};
