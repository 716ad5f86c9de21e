import { describe, expect, it } from '@jest/globals';
import { isTracing } from '#event-sourcing/tracing/tracing.js';
import { isTracingWanted, startTracing } from './start-telemetry.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('tracing', () => {
  it.each([
    ['nothing is set', {}, false],
    ['an endpoint is', ENDPOINT, true],
    ['its exporter is', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
    ['its exporter is none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
    ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, false],
    ['variables are set to nothing', { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: '' }, false],
  ])('when %s', (_, environment, isWanted) => {
    expect(isTracingWanted(environment)).toBe(isWanted);
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf/],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER must be one of always_on, /],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG/],
  ])('refuses unsupported values: %j', async (values, message) => {
    await expect(startTracing('api', { ...ENDPOINT, ...values })).rejects.toThrow(message);
    expect(isTracing()).toBe(false);
  });
});
