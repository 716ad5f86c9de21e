import {
  BadRequestException,
  Catch,
  HttpException,
  Inject,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { isDependencyAway, isStoreAway } from '#event-sourcing/store/errors.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import { LOGGER } from '../tokens.js';
import { admissionOf } from './admission.js';
import { allowedMethods, setAsked } from './outcome.js';
import { Problem, sendProblem, type ProblemCode } from './problem.js';
import { requestIdOf } from './request-id.js';

/** The only place that turns errors into problems. It logs causes and never sends them. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly away = new Recurring();
  private lastAwayAt = -Infinity;

  constructor(@Inject(LOGGER) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    const request = http.getRequest<Request>();
    const found = tooMany(error, request) ?? otherMethod(error, request) ?? toProblem(error);
    const problem = READS.has(request.method) ? asRead(found) : found;
    const requestId = requestIdOf(request);
    if (problem.options.isAsked) setAsked(response);
    else if (problem.status >= 500 && !problem.options.isLogged)
      this.say(problem, problem.options.cause ?? error, requestId);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    sendProblem(response, problem, requestId);
  }

  /**
   * A store that is away fails every request: the log gets one line, and then one at growing intervals. That the event
   * store is away, its connection says first, for the whole process.
   */
  private say({ code, title }: Problem, cause: unknown, requestId: string): void {
    const err = cause instanceof Error ? cause : undefined;
    const isAway = isDependencyAway(cause);
    const at = performance.now();
    if (at - this.lastAwayAt > NEW_FAULT_AFTER_MS) this.away.over();
    if (isAway) this.lastAwayAt = at;
    const times = isAway ? this.away.happened(`${code} ${err?.name}`) : 1;
    if (times === 0 || (times === 1 && isStoreAway(cause))) return;
    this.log.error({ requestId, code, err, ...(isAway && { times }) }, title);
  }
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** A request that only reads enqueues nothing. */
const asRead = (problem: Problem): Problem =>
  problem.code === 'enqueue_unavailable' ? new Problem('service_unavailable', problem.options) : problem;

/** After this time (ms) without a failure, a new one is another fault. */
const NEW_FAULT_AFTER_MS = 30_000;

/** No route was found, so the credentials were not checked: the request counts as one without credentials. */
const tooMany = (error: unknown, request: Request): Problem | null =>
  error instanceof NotFoundException || isUnreadableAddress(error)
    ? (admissionOf(request)?.charge() ?? null)
    : null;

/** For a known path with another method, Nest reports that there is no such route. */
const otherMethod = (error: unknown, request: Request): Problem | null => {
  if (!(error instanceof NotFoundException)) return null;
  const allowed = allowedMethods(request.app, request.path);
  return allowed.length === 0
    ? null
    : new Problem('method_not_allowed', {
        detail: `Use ${allowed.join(', ')}`,
        headers: { Allow: allowed.join(', ') },
      });
};

/** A path that does not decode (`%E0%A4%A`): Nest turns the router's URIError into a 400. Such a path never exists. */
const isUnreadableAddress = (error: unknown): boolean =>
  error instanceof URIError || error instanceof BadRequestException;

const BY_STATUS: Readonly<Record<number, ProblemCode>> = {
  // The body is shorter or longer than its announced length.
  400: 'malformed_json',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (isDependencyAway(error)) {
    return new Problem('enqueue_unavailable', { headers: { 'Retry-After': '5' }, cause: error });
  }
  const status =
    error instanceof HttpException ? error.getStatus() : (error as { status?: unknown } | null)?.status;
  const code = isUnreadableAddress(error)
    ? 'not_found'
    : typeof status === 'number'
      ? BY_STATUS[status]
      : undefined;
  return new Problem(code ?? 'internal_error', {
    ...(code === 'not_found' && { detail: 'No route has this path: compare it with /openapi.json' }),
    cause: error,
  });
};
