import type * as Sdk from '@opentelemetry/sdk-trace';
import { switchTracingOn } from '@app/event-sourcing/tracing/tracing.js';

type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

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
  const [{ context, trace }, sdk, { AsyncLocalStorageContextManager }, exporter, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/exporter-trace-otlp-proto'),
      import('@opentelemetry/resources'),
    ]);
  const named = resources.resourceFromAttributes({ 'service.name': `reading-service-${serviceName}` });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
  const given = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(named).merge(given),
    sampler: samplerOf(sdk, environment),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new exporter.OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  switchTracingOn();
  return () => provider.shutdown();
};

const requireProtobuf = (environment: Environment): void => {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const protocol = environment[name];
    if (protocol && protocol !== 'http/protobuf')
      throw new Error(`${name} must be http/protobuf, not ${protocol}`);
  }
};

const samplerOf = (sdk: typeof Sdk, environment: Environment) => {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  if (!SAMPLERS.some((known) => known === name)) {
    throw new Error(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}`);
  }
  const [root, isParentBased] = name.startsWith('parentbased_')
    ? [name.slice('parentbased_'.length), true]
    : [name, false];
  const sampler =
    root === 'always_on'
      ? new sdk.AlwaysOnSampler()
      : root === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.TraceIdRatioBasedSampler(ratioOf(environment['OTEL_TRACES_SAMPLER_ARG']));
  return isParentBased ? new sdk.ParentBasedSampler({ root: sampler }) : sampler;
};

const ratioOf = (text: string | undefined): number => {
  const ratio = text ? Number(text) : 1;
  if (!(ratio >= 0 && ratio <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return ratio;
};
