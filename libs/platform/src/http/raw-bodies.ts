import express, { type NextFunction, type Request, type Response } from 'express';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal, RefusedKey } from '../auth/authentication.js';
import type { Config } from '../config/settings.js';
import { rateSubject } from '../rate-limit/rate-limit.guard.js';
import { BodyRoom } from './body-room.js';
import { Problem } from './problem.js';

/** Paths whose bodies hold many requests. */
const BULK_PATHS = new Set(['/api/v1/readings/bulk']);

/** Bodies of HTTP_BULK_LIMIT_BYTES for which a process has room, in all and for a workspace in one mode. */
const BULKS_HELD = 16;
const BULKS_HELD_OF_ONE = 4;

const REFUSAL = Symbol('refusal');
type WithBody = Request & { [REFUSAL]?: Problem };

/** Why the body was not read; to be answered once the guards have passed the request. */
export const refusalOfBody = (request: Request): Problem | null => (request as WithBody)[REFUSAL] ?? null;

/**
 * Reads bodies as bytes. A bulk larger than an ordinary body is read only for a caller whose key is valid, since a header
 * alone proves nothing, and while there is room for it. Otherwise it stays in the connection, where it takes no memory.
 */
export const rawBodies = (
  {
    HTTP_BODY_LIMIT_BYTES: limit,
    HTTP_BULK_LIMIT_BYTES: bulkLimit,
  }: Pick<Config, 'HTTP_BODY_LIMIT_BYTES' | 'HTTP_BULK_LIMIT_BYTES'>,
  verify: (request: Request) => Promise<Principal | RefusedKey | null>,
) => {
  const options = { type: () => true, inflate: false };
  const ordinary = express.raw({ ...options, limit });
  const bulk = express.raw({ ...options, limit: bulkLimit });
  const room = new BodyRoom(BULKS_HELD * bulkLimit, BULKS_HELD_OF_ONE * bulkLimit);

  /** The room is given back with the answer: until then, the process holds what the body says. */
  const admit = (
    caller: Principal | RefusedKey | null,
    bytes: number,
    response: Response,
  ): Problem | null => {
    if (caller === null || 'refusal' in caller) return unproved();
    const taken = room.take(rateSubject(caller), bytes);
    if (typeof taken === 'string') return taken === 'sender' ? tooManyOfOne() : tooMany();
    response.once('close', taken);
    return null;
  };

  return (request: Request, response: Response, next: NextFunction): void => {
    const { headers, path } = request;
    const bytes = mostBytes(headers, bulkLimit);
    const isLarge = BULK_PATHS.has(path) && headers['x-api-key'] !== undefined && bytes > limit;
    // What announces more than any body may have is refused without being read.
    if (!isLarge || bytes > bulkLimit) return ordinary(request, response, next);
    verify(request)
      .catch(() => null)
      .then((caller) => {
        // The caller has gone, and its answer is closed already.
        if (request.destroyed) return;
        const refusal = admit(caller, bytes, response);
        if (refusal === null) return bulk(request, response, next);
        (request as WithBody)[REFUSAL] = refusal;
        next();
      })
      .catch(next);
  };
};

/** The announced length, or the most that a body without one may have. */
const mostBytes = (headers: IncomingHttpHeaders, most: number): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : most;

/** Answered only when the guard could verify what could not be verified a moment before, such as a new key. */
const unproved = (): Problem =>
  new Problem('enqueue_unavailable', {
    detail: 'The API key could not be verified when the request arrived',
    headers: { 'Retry-After': '1' },
    isLogged: true,
  });

const tooMany = (): Problem =>
  new Problem('enqueue_unavailable', {
    detail: 'Too many bulk requests are under way right now',
    headers: { 'Retry-After': '5' },
    isLogged: true,
  });

const tooManyOfOne = (): Problem =>
  new Problem('rate_limited', {
    detail: 'Too many large bulk requests of the workspace are under way: wait for their answers',
    headers: { 'Retry-After': '5' },
  });
