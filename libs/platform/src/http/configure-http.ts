import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { SpanKind } from '@opentelemetry/api';
import helmet, { strictTransportSecurity, xContentTypeOptions } from 'helmet';
import type { Logger } from 'pino';
import { startSpan, withSpan } from '#event-sourcing/tracing/tracing.js';
import { AUTHENTICATOR, verifyCredentials, type Authenticator } from '../auth/authentication.js';
import type { Config } from '../config/settings.js';
import { finalStatus, routeOf } from './outcome.js';
import { setCodingAside, rawBodies, type BodyLimits } from './json-body.interceptor.js';
import { admissionOf } from './admission.js';
import { sendProblem } from './problem.js';
import { toProblem } from './problem.filter.js';
import { requestId, requestIdOf } from './request-id.js';

/** Pages load only assets of this service: nothing from other hosts, no inline script, no inline style. */
const PAGE_POLICY = {
  defaultSrc: ["'self'"],
  connectSrc: ["'none'"],
  objectSrc: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
};
/** The page of the API reference also sends requests, and Swagger UI sets styles of its own. */
const REFERENCE_POLICY = {
  ...PAGE_POLICY,
  connectSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
};
const pageHeaders = (directives: Record<string, string[]>) =>
  helmet({ contentSecurityPolicy: { useDefaults: false, directives } });

/** The paths of pages; exact ones, as the router takes them. */
const PAGE = /^\/(docs(\/.*)?|changelog)?$/;

interface HttpOptions {
  /** Decides first; what it refuses gets no log line, which would amplify a flood. */
  readonly admit?: RequestHandler;
  /** Limits of bodies (bytes), for tests. */
  readonly bodies?: BodyLimits;
}

/** The HTTP setup: ids, security headers, one log line per request, bodies, problems. */
export const configureHttp = (
  app: NestExpressApplication,
  { TRUSTED_PROXIES }: Pick<Config, 'TRUSTED_PROXIES'>,
  log: Logger,
  { admit, bodies }: HttpOptions = {},
): void => {
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', TRUSTED_PROXIES);
  app.getHttpAdapter().getInstance().response.json = sendAsJson;
  app.use(requestId);
  // The headers relevant to an API; pages get the full set.
  app.use(strictTransportSecurity(), xContentTypeOptions());
  if (admit) app.use(admit);
  app.use('/api', keptByNobody);
  app.use(traceRequests);
  app.use(logRequests(log));
  app.use(PAGE, pageHeaders(PAGE_POLICY));
  app.use('/docs/reference', pageHeaders(REFERENCE_POLICY));
  app.use(dropLongPreferences);
  app.use(setCodingAside);
  const authenticator = (): Authenticator => app.get<Authenticator>(AUTHENTICATOR, { strict: false });
  app.use(rawBodies((request) => verifyCredentials(authenticator(), request), bodies));
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    // Runs before the credentials are checked, so the request counts as one without credentials.
    sendProblem(response, admissionOf(request)?.charge() ?? toProblem(error), requestIdOf(request));
  });
};

/** Answers contain data about people, keys and credits: no cache may store them, unless the route says otherwise. */
const keptByNobody = (_: Request, response: Response, next: NextFunction): void => {
  response.setHeader('Cache-Control', 'no-store');
  next();
};

/**
 * Replaces Express's method, which adds a charset that JSON does not have (RFC 8259, 11), so that all JSON has one
 * media type.
 */
function sendAsJson(this: Response, body: unknown): Response {
  this.setHeader('Content-Type', 'application/json');
  return this.end(JSON.stringify(body));
}

/**
 * A span for each request, around everything that the request causes. A caller's `traceparent` is linked, not
 * continued, because strangers must not decide whether we record a request.
 */
const traceRequests = (request: Request, response: Response, next: NextFunction): void => {
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

/** Headers of content negotiation. Each entry is ranked for each type or language that an answer may have. */
const PREFERENCES = ['accept', 'accept-language'] as const;
/** Browsers send some 150 characters. 16 KiB, as long as headers may be, take tens of milliseconds. */
const MAX_PREFERENCE = 1_024;

/** Disregards longer preferences, as RFC 9110, 12.5 allows: the answer is what it would be without them. */
const dropLongPreferences = ({ headers }: Request, _response: Response, next: NextFunction): void => {
  for (const name of PREFERENCES) if ((headers[name]?.length ?? 0) > MAX_PREFERENCE) delete headers[name];
  next();
};

const logRequests =
  (log: Logger) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = process.hrtime.bigint();
    response.once('close', () => {
      const milliseconds = Number(process.hrtime.bigint() - startedAt) / 1e6;
      log.info(
        {
          requestId: requestIdOf(request),
          method: request.method,
          route: routeOf(request),
          status: finalStatus(response),
          ms: Math.round(milliseconds * 10) / 10,
        },
        'request',
      );
    });
    next();
  };
