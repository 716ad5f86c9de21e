import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import * as resources from '@opentelemetry/resources';
import * as sdk from '@opentelemetry/sdk-trace';

type Environment = Readonly<Record<string, string | undefined>>;

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

/** Those of the specification; `parentbased_` before one also heeds the parent of a span. */
const SAMPLERS: Readonly<Record<string, (argument: string | undefined) => sdk.Sampler>> = {
  always_on: () => new sdk.AlwaysOnSampler(),
  always_off: () => new sdk.AlwaysOffSampler(),
  traceidratio: (argument) => new sdk.TraceIdRatioBasedSampler(ratioOf(argument)),
};

const samplerOf = (environment: Environment): sdk.Sampler => {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const of = SAMPLERS[name.replace(/^parentbased_/, '')];
  if (!of) {
    const known = Object.keys(SAMPLERS).flatMap((one) => [one, `parentbased_${one}`]);
    throw new Error(`OTEL_TRACES_SAMPLER must be one of ${known.join(', ')}`);
  }
  const root = of(environment['OTEL_TRACES_SAMPLER_ARG']);
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
};

const ratioOf = (text: string | undefined): number => {
  const ratio = text ? Number(text) : 1;
  if (!(ratio >= 0 && ratio <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return ratio;
};
