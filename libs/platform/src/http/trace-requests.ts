import { SpanKind } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { startSpan, withSpan } from '#event-sourcing/tracing/tracing.js';
import { requestIdOf } from './request-id.js';
import { routeOf } from './route-of.js';

/**
 * A span for each request, around everything that the request causes. A caller's `traceparent` is linked, not
 * continued, because strangers must not decide whether we record a request.
 */
export const traceRequests = (request: Request, response: Response, next: NextFunction): void => {
  const span = startSpan(request.method, {
    kind: SpanKind.SERVER,
    parent: null,
    links: [request.get('traceparent')],
    attributes: { 'http.request.method': request.method, 'request.id': requestIdOf(request) },
  });
  if (!span) return next();
  response.once('close', () => {
    const route = routeOf(request);
    span.updateName(`${request.method} ${route}`);
    span.setAttributes({ 'http.route': route, 'http.response.status_code': response.statusCode });
    span.end();
  });
  withSpan(span, next);
};
