import type { NestExpressApplication } from '@nestjs/platform-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet, { strictTransportSecurity, xContentTypeOptions } from 'helmet';
import type { Logger } from 'pino';
import type { Config } from '../config/settings.js';
import { setCodingAside } from './json-body.interceptor.js';
import { admissionOf } from './door/admission.js';
import { toProblem } from './problem.filter.js';
import { requestId, requestIdOf } from './request-id.js';
import { routeOf } from './route-of.js';
import { refuse } from './send-problem.js';
import { traceRequests } from './trace-requests.js';

/** The page under /docs is made of what is served with it: nothing of other hosts, and no script in the page itself. */
const PAGE_POLICY = {
  defaultSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
};

/** What every HTTP process does alike: ids, size limit, security headers, one log line per request, problems. */
export const configureHttp = (app: NestExpressApplication, config: Config, log: Logger): void => {
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', config.TRUSTED_PROXIES);
  app.getHttpAdapter().getInstance().response.json = sendAsJson;
  app.use(requestId);
  app.use('/api', keptByNobody);
  app.use(traceRequests);
  app.use(logRequests(log));
  // What matters to an API; the page under /docs gets the whole set.
  app.use(strictTransportSecurity(), xContentTypeOptions());
  app.use('/docs', helmet({ contentSecurityPolicy: { useDefaults: false, directives: PAGE_POLICY } }));
  app.use(setCodingAside);
  app.use(express.raw({ type: () => true, limit: config.HTTP_BODY_LIMIT_BYTES, inflate: false }));
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    // Before anyone has looked at the credentials: it counts as a request without them.
    refuse(request, response, admissionOf(request)?.charge() ?? toProblem(error), requestIdOf(request));
  });
};

/** Answers tell of people, keys and credits: no cache on the way keeps one, unless its route says otherwise. */
const keptByNobody = (_: Request, response: Response, next: NextFunction): void => {
  response.setHeader('Cache-Control', 'no-store');
  next();
};

/** Instead of Express's own, which adds a charset that JSON does not have (RFC 8259, 11): all JSON is alike. */
function sendAsJson(this: Response, body: unknown): Response {
  this.setHeader('Content-Type', 'application/json');
  return this.end(JSON.stringify(body));
}

const logRequests =
  (log: Logger) =>
  (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = process.hrtime.bigint();
    response.once('finish', () => {
      const milliseconds = Number(process.hrtime.bigint() - startedAt) / 1e6;
      log.info(
        {
          requestId: requestIdOf(request),
          method: request.method,
          route: routeOf(request),
          status: response.statusCode,
          ms: Math.round(milliseconds * 10) / 10,
        },
        'request',
      );
    });
    next();
  };
