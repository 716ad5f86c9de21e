import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet, { strictTransportSecurity, xContentTypeOptions } from 'helmet';
import type { Logger } from 'pino';
import { AUTHENTICATOR, type Authenticator } from '../auth/authentication.js';
import { verifyCredentials } from '../auth/credentials.js';
import type { Config } from '../config/settings.js';
import { finalStatus } from './final-status.js';
import { setCodingAside } from './json-body.interceptor.js';
import { dropLongPreferences } from './long-preferences.js';
import { admissionOf } from './admission.js';
import { toProblem } from './problem.filter.js';
import { rawBodies, type BodyLimits } from './raw-bodies.js';
import { requestId, requestIdOf } from './request-id.js';
import { routeOf } from './route-of.js';
import { sendProblem } from './send-problem.js';
import { traceRequests } from './trace-requests.js';

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
  app.use(rawBodies(async (request) => verifyCredentials(authenticator(), request, TRUSTED_PROXIES), bodies));
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
