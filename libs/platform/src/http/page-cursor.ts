import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { Injectable } from '@nestjs/common';
import { Digester } from '../crypto/digest.js';
import { invalidParameter } from './query-parameters.js';

/** The sort key of the last element of a page, after which the next page starts. */
export type PageEnd = readonly string[];

export interface PageRequest {
  readonly limit: number;
  readonly after: PageEnd | null;
}

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 100;
const SIGNATURE_BYTES = 16;

/** Elements of a page that count as one request, where each is opened. */
const OPENED_A_TOKEN = 20;

/** What a page of opened elements counts as. One that asks for too many, or for nonsense, is refused, and counts as one. */
export const tokensOfPage = ({ query }: Pick<Request, 'query'>): number => {
  const limit = Number(query['limit'] ?? DEFAULT_LIMIT);
  return limit >= 1 && limit <= MAX_LIMIT ? Math.ceil(limit / OPENED_A_TOKEN) : 1;
};

/**
 * Pages with opaque cursors, signed and bound to a scope: the list's owner, the list, and its filters. Refuses a cursor
 * of another scope.
 */
@Injectable()
export class PageCursors {
  constructor(private readonly digester: Digester) {}

  /**
   * Reads `?limit=1..100&cursor=`.
   * @throws Problem validation_failed
   */
  read(limit: string | undefined, cursor: string | undefined, ...scope: readonly string[]): PageRequest {
    const count = limit === undefined ? DEFAULT_LIMIT : /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
    if (count < 1 || count > MAX_LIMIT) {
      throw invalidParameter('limit', `must be from 1 to ${MAX_LIMIT}`);
    }
    return { limit: count, after: cursor === undefined ? null : this.open(cursor, scope) };
  }

  /** The answer to a list request. `read` fetches one element more than the page holds, to know if there are more. */
  page<T>(rows: readonly T[], limit: number, endOf: (row: T) => PageEnd, ...scope: readonly string[]) {
    const data = rows.slice(0, limit);
    const last = data.at(-1);
    return { data, nextCursor: rows.length > limit && last ? this.seal(endOf(last), ...scope) : null };
  }

  seal(end: PageEnd, ...scope: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(end), 'utf8');
    return Buffer.concat([this.sign(payload, scope), payload]).toString('base64url');
  }

  private open(cursor: string, scope: readonly string[]): PageEnd {
    const bytes = Buffer.from(cursor, 'base64url');
    const payload = bytes.subarray(SIGNATURE_BYTES);
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    if (signature.length !== SIGNATURE_BYTES || !timingSafeEqual(signature, this.sign(payload, scope))) {
      throw invalidParameter('cursor', 'is not a cursor of this list');
    }
    return JSON.parse(payload.toString('utf8')) as PageEnd;
  }

  private sign(payload: Buffer, scope: readonly string[]): Buffer {
    return this.digester
      .digest('page-cursor', ...scope, payload.toString('base64'))
      .subarray(0, SIGNATURE_BYTES);
  }
}
