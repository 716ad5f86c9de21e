import type { NextFunction, Request, Response } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';
import { finalStatus, isAsked, routeOf } from './outcome.js';

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
