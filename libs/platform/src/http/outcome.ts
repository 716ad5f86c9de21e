import type { ServerResponse } from 'node:http';
import type { Application, Request, NextFunction, Response } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';

interface RouterLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

const UNMATCHED = 'unmatched';

/** The route pattern of a request, such as `/api/v1/readings/:readingId`; never a path, which contains ids. */
export const routeOf = (request: Request): string =>
  (request.route as { path?: string } | undefined)?.path ?? UNMATCHED;

/** The same, also of a request that was refused before routing, such as one that is too large. */
export const patternOf = (request: Request): string => {
  const route = routeOf(request);
  if (route !== UNMATCHED) return route;
  const method = request.method.toLowerCase();
  try {
    return routesAt(request.app, request.path).find(({ methods }) => methods[method])?.path ?? route;
  } catch {
    // The path does not decode.
    return route;
  }
};

/** The methods that the application's routes accept at a path, upper case and sorted; none when the path is unknown. */
export const allowedMethods = (app: Application, path: string): readonly string[] => {
  const names = routesAt(app, path).flatMap(({ methods }) => Object.keys(methods));
  const methods = new Set(names.map((name) => name.toUpperCase()));
  if (methods.has('GET')) methods.add('HEAD');
  methods.delete('_ALL');
  return [...methods].sort();
};

/** Read from the router itself, so that it always matches what is served. */
const routesAt = ({ router }: Application, path: string) =>
  (router as unknown as { stack: readonly RouterLayer[] }).stack.flatMap((layer) =>
    layer.route && layer.match(path) ? [layer.route] : [],
  );

/** Not of HTTP: nobody receives it. */
export const GONE_AWAY = 499;
export const LOWEST_REFUSAL = 400;

/** The status of an answer, once its connection has finished with it; 499 when the caller left before there was one. */
export const finalStatus = ({ headersSent, statusCode }: ServerResponse): number =>
  headersSent ? statusCode : GONE_AWAY;

const asked = new WeakSet<ServerResponse>();

/** Notes that the caller asked for this refusal (`ProblemOptions.isAsked`). */
export const setAsked = (response: ServerResponse): void => void asked.add(response);

export const isAsked = (response: ServerResponse): boolean => asked.has(response);

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Counts and times requests, by route, method and status. A refusal that a test reading asked for is `asked_503` and its
 * like: it says nothing about the service. Those whose callers left count, too: in a bad hour, all of them may.
 */
export const measureRequests = (registry: Registry) => {
  const labelNames = ['route', 'method', 'status'] as const;
  const count = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, and those whose callers left before (499)',
    labelNames,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer or connection, including held requests (Prefer: wait)',
    labelNames,
    buckets: SECONDS,
    registers: [registry],
  });
  return (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    response.once('close', () => {
      const status = `${isAsked(response) ? 'asked_' : ''}${finalStatus(response)}`;
      const labels = { route: routeOf(request), method: request.method, status };
      count.inc(labels);
      seconds.observe(labels, (performance.now() - startedAt) / 1_000);
    });
    next();
  };
};
