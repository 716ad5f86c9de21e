import type { Registry } from 'prom-client';
import { switchTracingOn } from '#event-sourcing/tracing/tracing.js';
import type { Config } from '../config/settings.js';
import { announce } from '../process/stopping.js';
import { within } from '../async/within.js';
import { serveMetrics } from './metrics.js';

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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Starts tracing over OTLP (http/protobuf) when OpenTelemetry's own variables name an exporter or an endpoint, and none of
 * them disables it; otherwise its SDK is not even loaded.
 * @returns a function that sends the last spans; call it before the process ends
 * @throws Error that names the variable at fault
 */
export const startTracing = async (
  serviceName: string,
  environment: Environment,
): Promise<() => Promise<void>> => {
  if (!isTracingWanted(environment)) return () => Promise.resolve();
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = environment[name] || 'http/protobuf';
    if (protocol !== 'http/protobuf') throw new Error(`${name} must be http/protobuf, not ${protocol}`);
  }
  const { provideTraces } = await import('./provide-traces.js');
  const shutdown = provideTraces(serviceName, environment);
  switchTracingOn();
  return shutdown;
};

export const isTracingWanted = (environment: Environment): boolean => {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  const exporter = environment['OTEL_TRACES_EXPORTER'];
  if (exporter) return exporter === 'otlp';
  return Boolean(
    environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  );
};
