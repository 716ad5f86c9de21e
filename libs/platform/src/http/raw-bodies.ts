import express, { type NextFunction, type Request, type Response } from 'express';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal, RefusedKey } from '../auth/authentication.js';
import type { Config } from '../config/settings.js';
import { BodyRoom, type Place } from './body-room.js';
import { Problem } from './problem.js';

/** Paths whose bodies hold many requests, and the scope that each needs. */
const BULK_SCOPES: ReadonlyMap<string, string> = new Map([['/api/v1/readings/bulk', 'readings:write']]);

/** Bodies of HTTP_BULK_LIMIT_BYTES for which a process has room, in all and for a workspace. */
const BULKS_HELD = 16;
const BULKS_HELD_OF_ONE = 4;

const REFUSAL = Symbol('refusal');
type WithBody = Request & { [REFUSAL]?: Problem };

/** Why the body was not read; to be answered once the guards have passed the request. */
export const refusalOfBody = (request: Request): Problem | null => (request as WithBody)[REFUSAL] ?? null;

/**
 * Reads bodies as bytes. A bulk larger than an ordinary body is read only for a caller whose key may order, since a header
 * alone proves nothing, and while there is room for what has come of it. The rest stays in the connection, where it takes
 * no memory.
 */
export const rawBodies = (
  {
    HTTP_BODY_LIMIT_BYTES: limit,
    HTTP_BULK_LIMIT_BYTES: bulkLimit,
  }: Pick<Config, 'HTTP_BODY_LIMIT_BYTES' | 'HTTP_BULK_LIMIT_BYTES'>,
  verify: (request: Request) => Promise<Principal | RefusedKey | null>,
) => {
  const ordinary = express.raw({ type: () => true, inflate: false, limit });
  const room = new BodyRoom(BULKS_HELD * bulkLimit, BULKS_HELD_OF_ONE * bulkLimit);

  /** The room is given back with the answer: until then, the process holds what the body says. */
  const read = async (
    request: Request,
    response: Response,
    caller: Principal | RefusedKey | null,
    scope: string,
  ): Promise<Buffer | Problem | null> => {
    if (caller === null || 'refusal' in caller) return unproved();
    // A guard refuses it.
    if (!caller.scopes.includes(scope)) return null;
    const place = room.enter(caller.workspaceId);
    response.once('close', () => place.leave());
    return readInto(place, request, bulkLimit);
  };

  return (request: Request, response: Response, next: NextFunction): void => {
    const { headers, path } = request;
    const bytes = mostBytes(headers, bulkLimit);
    const scope = BULK_SCOPES.get(path);
    const isLarge = scope !== undefined && headers['x-api-key'] !== undefined && bytes > limit;
    // What announces more than any body may have, or another coding, is refused without being read.
    if (!isLarge || bytes > bulkLimit || headers['content-encoding'] !== undefined)
      return ordinary(request, response, next);
    verify(request)
      .catch(() => null)
      // The caller may have gone, and its answer may be closed already.
      .then((caller) => (request.destroyed ? null : read(request, response, caller, scope)))
      .then((body) => {
        if (body instanceof Problem) (request as WithBody)[REFUSAL] = body;
        else if (body) request.body = body;
        if (!request.destroyed || body) next();
      })
      .catch(next);
  };
};

/** Takes a body as it comes: one that is only announced has no room yet. Never settles when the caller leaves. */
const readInto = (place: Place, request: Request, limit: number): Promise<Buffer | Problem> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const refuse = (problem: Problem): void => {
      request.off('data', take).pause();
      resolve(problem);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limit) return refuse(new Problem('payload_too_large'));
      const filledBy = place.add(chunk.length);
      if (filledBy !== null) return refuse(filledBy === 'sender' ? tooManyOfOne() : tooMany());
      chunks.push(chunk);
    };
    request.on('data', take).once('end', () => resolve(Buffer.concat(chunks)));
  });

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
