import { switchTracingOn } from '#event-sourcing/tracing/tracing.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** On when OpenTelemetry's own variables name an exporter or an endpoint, and none of them disables it. */
export const isTracingWanted = (environment: Environment): boolean => {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  const exporter = environment['OTEL_TRACES_EXPORTER'];
  if (exporter) return exporter === 'otlp';
  return Boolean(
    environment['OTEL_EXPORTER_OTLP_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  );
};

/**
 * Starts tracing over OTLP (http/protobuf) when the standard OTEL_* variables enable it; otherwise OpenTelemetry's SDK
 * is not even loaded. Returns a function that sends the last spans; call it before the process ends.
 * @throws Error that names the variable at fault
 */
export const startTracing = async (
  serviceName: string,
  environment: Environment,
): Promise<() => Promise<void>> => {
  if (!isTracingWanted(environment)) return () => Promise.resolve();
  requireProtobuf(environment);
  const { provideTraces } = await import('./provide-traces.js');
  const shutdown = provideTraces(serviceName, environment);
  switchTracingOn();
  return shutdown;
};

const requireProtobuf = (environment: Environment): void => {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = environment[name];
    if (protocol && protocol !== 'http/protobuf')
      throw new Error(`${name} must be http/protobuf, not ${protocol}`);
  }
};
