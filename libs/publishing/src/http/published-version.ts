import { type CanActivate, type ExecutionContext, Injectable, Optional } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { Request, Response } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { principalOf, requireStanding } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Problem } from '#platform/http/problem.js';
import { GetReadingSummary, type ReadingSummary } from '#readings/contracts/index.js';
import { PublicationQuery } from '../application/publications.js';

/** What the path of a reading's routes names. */
export const NAMED_READING = {
  description: 'The `readingId` from the response to its creation',
  example: '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41',
};

/** Seconds a caller should wait before it looks for a document that is being made. */
export const POLL_AFTER = '2';

const READING = Symbol('reading');
type WithReading = Request & { [READING]?: ReadingSummary };

/**
 * For routes below a reading: refuses an unknown reading and one of another workspace or mode before the body is checked, so
 * that the answer reveals nothing about it.
 */
@Injectable()
export class OwnReadingGuard implements CanActivate {
  constructor(private readonly queries: QueryBus) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<WithReading>();
    const reading = await this.queries.execute(new GetReadingSummary(String(request.params['readingId'])));
    if (!reading) throw new Problem('reading_not_found');
    const caller = principalOf(request);
    if (reading.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, reading.livemode)) throw new Problem('reading_not_found');
    request[READING] = reading;
    return true;
  }
}

/** The reading that the guard found. */
export const readingOf = (request: Request): ReadingSummary => {
  const reading = (request as WithReading)[READING];
  if (!reading) throw new TypeError('The route has no reading: declare @UseGuards(OwnReadingGuard) on it');
  return reading;
};

/** Longest wait for the publication of a completed reading (ms). */
const LONGEST_WAIT_MS = 5_000;
const LOOK_AGAIN_MS = 100;

type Found = Awaited<ReturnType<PublicationQuery['find']>>;

/** Finds the version that a caller asks for, and waits for it where it is about to be published. */
@Injectable()
export class PublishedVersion {
  constructor(
    private readonly queries: QueryBus,
    private readonly publications: PublicationQuery,
    @Optional() private readonly waitMs = LONGEST_WAIT_MS,
  ) {}

  /**
   * A version of a completed reading is published shortly. Holds the request until then, or until the caller disconnects,
   * so that callers need not retry.
   * @param version the newest when undefined
   * @param caller the response to the caller
   * @throws Problem document_not_available, version_not_found or reading_erased; unauthenticated when the caller's key ended
   */
  async require(
    reading: ReadingSummary,
    version: number | undefined,
    caller: Pick<Response, 'destroyed' | 'req'>,
  ): Promise<number> {
    if (reading.erasedAt !== null) throw new Problem('reading_erased');
    const now = await this.find(reading, version);
    const isAwaited = now === 'due' && reading.status === 'completed';
    const published = isAwaited ? await this.awaited(reading, version, caller) : now;
    if (isAwaited) await requireStanding(caller.req);
    if (published === 'unknown') throw new Problem('version_not_found');
    if (published === 'failed')
      throw new Problem('document_not_available', { detail: 'The document could not be made' });
    if (published === 'due') throw await this.notAvailable(reading);
    return published;
  }

  /** Between the first look and the last one, asks the rows alone: they are asked for many callers in one statement. */
  private async awaited(
    reading: ReadingSummary,
    version: number | undefined,
    caller: Pick<Response, 'destroyed'>,
  ): Promise<Found> {
    const until = performance.now() + this.waitMs;
    for (;;) {
      await delay(LOOK_AGAIN_MS);
      if (caller.destroyed) return 'due';
      const isLast = performance.now() >= until;
      if (!isLast && !(await this.publications.hasRow(reading.readingId, version))) continue;
      const found = await this.find(reading, version);
      if (found !== 'due' || isLast) return found;
    }
  }

  /** A reading may show a version before the publications do: both follow the log, each at its own speed. */
  private async find(
    { readingId, documentVersion: shown }: ReadingSummary,
    version: number | undefined,
  ): Promise<Found> {
    const found = await this.publications.find(readingId, version);
    const isBehind = shown !== null && (typeof found !== 'number' || found < shown);
    return version === undefined && isBehind ? this.publications.find(readingId, shown) : found;
  }

  private async notAvailable({ readingId, status }: ReadingSummary): Promise<Problem> {
    const now = await this.queries.execute(new GetReadingSummary(readingId));
    if (now !== null && now.erasedAt !== null) return new Problem('reading_erased');
    const detail = `The reading is ${status}`;
    if (status === 'failed') return new Problem('document_not_available', { detail });
    return new Problem('document_not_available', { detail, headers: { 'Retry-After': POLL_AFTER } });
  }
}
