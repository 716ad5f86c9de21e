import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import * as resources from '@opentelemetry/resources';
import * as sdk from '@opentelemetry/sdk-trace';

type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * Registers the SDK of OpenTelemetry for this process.
 * @returns a function that sends the last spans
 * @throws Error that names the variable at fault
 */
export const provideTraces = (serviceName: string, environment: Environment): (() => Promise<void>) => {
  const named = resources.resourceFromAttributes({ 'service.name': `reading-service-${serviceName}` });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
  const given = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(named).merge(given),
    sampler: samplerOf(environment),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return () => provider.shutdown();
};

const samplerOf = (environment: Environment) => {
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
