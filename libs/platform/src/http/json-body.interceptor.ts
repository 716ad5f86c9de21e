import express, { type NextFunction, type Request, type Response } from 'express';
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal, RefusedKey } from '../auth/authentication.js';
import { Problem } from './problem.js';
import {
  Injectable,
  SetMetadata,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { parseStrictJson } from './strict-json.js';

/** The largest body of a request (bytes). */
export const LARGEST_BODY = 16_384;
/** The largest body of a bulk (bytes). */
const MAX_BULK = 4_194_304;

/** Paths whose bodies hold many requests, and the scope that each needs. */
const BULK_SCOPES: ReadonlyMap<string, string> = new Map([['/api/v1/readings/bulk', 'readings:write']]);

/** The largest bulks for which a process has room, in all and for a workspace, which must leave some to others. */
const BULKS_HELD = 16;
const BULKS_HELD_OF_ONE = 4;

/**
 * Pieces in which a body may come, whatever its length, and more for each of its bytes. Each costs half a kilobyte of memory
 * and as much time as a thousand bytes. Clients send pieces of kilobytes; of a bulk, perhaps one for each line.
 */
const PIECES = { ordinary: { few: 256, bytesOfMore: 64 }, bulk: { few: 2_048, bytesOfMore: 512 } };

/** Resets the connection once a body has come in more pieces than it may. */
const boundPieces = (request: Request, { few, bytesOfMore }: { few: number; bytesOfMore: number }): void => {
  let [pieces, bytes] = [0, 0];
  const count = (piece: Buffer): void => {
    pieces += 1;
    bytes += piece.length;
    if (pieces <= few + bytes / bytesOfMore) return;
    request.off('data', count).socket.resetAndDestroy();
    // Node has read thousands of pieces more, which a stream that is not destroyed would keep.
    request.destroy();
  };
  request.on('data', count);
};

/** The largest ordinary body, and the largest bulk (bytes). */
export interface BodyLimits {
  readonly limit: number;
  readonly bulkLimit: number;
}

const refusals = new WeakMap<Request, Problem>();

/** Why the body was not read; to be answered once the guards have passed the request. */
export const refusalOfBody = (request: Request): Problem | undefined => refusals.get(request);

/**
 * Reads bodies as bytes. A bulk larger than an ordinary body is read only for a caller whose key may order, since a header
 * alone proves nothing, and while there is room for what has come of it. The rest stays in the connection, where it takes
 * no memory.
 */
export const rawBodies = (
  verify: (request: Request) => Promise<Principal | RefusedKey | null>,
  { limit, bulkLimit }: BodyLimits = { limit: LARGEST_BODY, bulkLimit: MAX_BULK },
) => {
  const ordinary = express.raw({ type: () => true, inflate: false, limit });
  /** Bytes of large bodies under way, by workspace. */
  const held = new Map<string, number>();
  let heldOfAll = 0;
  const hold = (workspaceId: string, bytes: number): void => {
    heldOfAll += bytes;
    const own = (held.get(workspaceId) ?? 0) + bytes;
    if (own > 0) held.set(workspaceId, own);
    else held.delete(workspaceId);
  };
  const refusalOf = (workspaceId: string, bytes: number): Problem | null => {
    if ((held.get(workspaceId) ?? 0) + bytes > BULKS_HELD_OF_ONE * bulkLimit) return tooManyOfOne();
    return heldOfAll + bytes > BULKS_HELD * bulkLimit ? tooMany() : null;
  };

  /** Takes a body as it comes: one that is only announced has no room yet. Never settles when the caller leaves. */
  const readBulk = (workspaceId: string, request: Request, response: Response): Promise<Buffer | Problem> =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const take = (chunk: Buffer): void => {
        const tooLarge = bytes + chunk.length > bulkLimit ? new Problem('payload_too_large') : null;
        const refusal = tooLarge ?? refusalOf(workspaceId, chunk.length);
        if (refusal) {
          request.off('data', take).pause();
          return resolve(refusal);
        }
        bytes += chunk.length;
        hold(workspaceId, chunk.length);
        chunks.push(chunk);
      };
      // Until the answer, the process holds what the body says.
      response.once('close', () => hold(workspaceId, -bytes));
      request.on('data', take).once('end', () => resolve(Buffer.concat(chunks)));
      boundPieces(request, PIECES.bulk);
    });

  const read = async (
    request: Request,
    response: Response,
    scope: string,
  ): Promise<Buffer | Problem | null> => {
    const caller = await verify(request).catch(() => null);
    // The caller may have gone, and its answer may be closed already.
    if (request.destroyed) return null;
    if (caller === null || 'refusal' in caller) return unproved();
    // A guard refuses it.
    if (!caller.scopes.includes(scope)) return null;
    return readBulk(caller.workspaceId, request, response);
  };

  return (request: Request, response: Response, next: NextFunction): void => {
    const { headers, path } = request;
    const bytes = mostBytes(headers, bulkLimit);
    const scope = BULK_SCOPES.get(path);
    const isLarge = scope !== undefined && headers['x-api-key'] !== undefined && bytes > limit;
    // What announces more than any body may have, or another coding, is refused without being read.
    if (!isLarge || bytes > bulkLimit || headers['content-encoding'] !== undefined) {
      ordinary(request, response, next);
      // Not before: it would begin to read.
      if (bytes > 0) boundPieces(request, PIECES.ordinary);
      return;
    }
    read(request, response, scope)
      .then((body) => {
        if (body instanceof Problem) refusals.set(request, body);
        else if (body) request.body = body;
        if (!request.destroyed || body) next();
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

const LINES = 'http:lines';
/** One JSON value on each line (https://github.com/ndjson/ndjson-spec). */
export const NDJSON = 'application/x-ndjson';

/** The route also takes newline-delimited JSON. It parses its body itself: in both media types, it gets the raw bytes. */
export const TakesLines = () => SetMetadata(LINES, true);

const takesLines = (handler: object): boolean => Reflect.getMetadata(LINES, handler) === true;

const MEDIA_TYPES = ['application/json', 'application/merge-patch+json'];
/** The methods whose content has a meaning; the content of others is ignored (RFC 9110, 9.3.1). */
const METHODS = ['POST', 'PATCH'];

const coded = new WeakSet<Request>();

/**
 * Hides the body's content coding from the parser, which would refuse it before authentication. The interceptor refuses
 * it after those checks.
 */
export const setCodingAside = (request: Request, _response: Response, next: NextFunction): void => {
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') coded.add(request);
  delete request.headers['content-encoding'];
  next();
};

/**
 * Parses the body after the guards, so that a caller without credentials learns nothing about bodies and costs no
 * parsing. Until then the body is raw bytes, already limited in size.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const refusal = refusalOfBody(request);
    if (refusal) throw refusal;
    const body: unknown = request.body;
    request.body = undefined;
    if (METHODS.includes(request.method) && Buffer.isBuffer(body) && body.length > 0) {
      const mayBeLines = takesLines(context.getHandler());
      const isLines = mayBeLines && request.is(NDJSON) !== false;
      if (coded.has(request) || !(isLines || MEDIA_TYPES.some((type) => request.is(type)))) {
        const types = mayBeLines ? `${MEDIA_TYPES[0]} or ${NDJSON}` : MEDIA_TYPES[0];
        throw new Problem('unsupported_media_type', { detail: `Send ${types}, uncompressed` });
      }
      request.body = mayBeLines ? body : parseStrictJson(body);
    }
    return next.handle();
  }
}
