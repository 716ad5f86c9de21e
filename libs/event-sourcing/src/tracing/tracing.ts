import {
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  context,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type SpanKind,
} from '@opentelemetry/api';

/** While false, the functions of this file do almost nothing. */
let isOn = false;

/** Call once, after the process has registered its tracer provider and context manager. */
export const switchTracingOn = (): void => {
  isOn = true;
};

export const isTracing = (): boolean => isOn;

export interface SpanOptions {
  readonly kind?: SpanKind;
  /** W3C `traceparent` of the span that caused this one; default: the active span. `null` starts a new trace. */
  readonly parent?: string | null | undefined;
  /** Traceparents of other related spans. */
  readonly links?: readonly (string | undefined)[];
  /** Ids, type names and counts. Never personal data: spans leave the service. */
  readonly attributes?: Attributes;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a W3C `traceparent` (https://www.w3.org/TR/trace-context/); `null` when invalid. */
const parseTraceparent = (text: string | null | undefined): SpanContext | null => {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
};

/** W3C `traceparent` of the active span, for metadata and jobs; `undefined` without one. */
export const currentTraceparent = (): string | undefined => {
  if (!isOn) return undefined;
  const active = trace.getSpanContext(context.active());
  return active && `00-${active.traceId}-${active.spanId}-0${active.traceFlags & TraceFlags.SAMPLED}`;
};

const parentOf = (parent: string | null | undefined): Context => {
  if (parent === undefined) return context.active();
  const remote = parseTraceparent(parent);
  return remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
};

/** Starts a span without making it active; the caller ends it. Returns `null` while tracing is off. */
export const startSpan = (
  name: string,
  { kind, parent, links, attributes }: SpanOptions = {},
): Span | null => {
  if (!isOn) return null;
  const linked = (links ?? []).flatMap((one): Link[] => {
    const remote = parseTraceparent(one);
    return remote ? [{ context: remote }] : [];
  });
  const options = {
    links: linked,
    ...(kind === undefined ? {} : { kind }),
    ...(attributes && { attributes }),
  };
  return trace.getTracer('reading-service').startSpan(name, options, parentOf(parent));
};

/** Runs work with the span active. */
export const withSpan = <T>(span: Span | null, work: () => T): T =>
  span ? context.with(trace.setSpan(context.active(), span), work) : work();

/** Runs work in its own span. Records only an error's name, since its message may contain values. */
export const inSpan = async <T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> => {
  const span = startSpan(name, options);
  if (!span) return work();
  try {
    return await withSpan(span, work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'unknown' });
    throw error;
  } finally {
    span.end();
  }
};
