import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '@app/platform/http/problem.js';
import { CONFIG } from '@app/platform/tokens.js';
import { GetReadingSummary, type ReadingSummary } from '@app/readings/contracts/index.js';
import { PublicationQuery } from '../read-models/publication/publication.query.js';
import type { Config } from '../settings.js';
import { POLL_AFTER } from './named-reading.js';

const LOOK_AGAIN_MS = 100;

/** Finds the version that a caller asks for, and waits for it where it is about to be published. */
@Injectable()
export class PublishedVersion {
  constructor(
    private readonly queries: QueryBus,
    private readonly publications: PublicationQuery,
    @Inject(CONFIG) private readonly config: Pick<Config, 'DOCUMENT_WAIT_MS'>,
  ) {}

  /**
   * A version of a completed reading is published shortly. Holds the request until then, so that callers need not retry.
   * @param version the newest when undefined
   * @throws Problem document_not_available, version_not_found or reading_erased
   */
  async require(reading: ReadingSummary, version: number | undefined): Promise<number> {
    if (reading.erasedAt !== null) throw new Problem('reading_erased');
    const rounds =
      reading.status === 'completed' ? Math.ceil(this.config.DOCUMENT_WAIT_MS / LOOK_AGAIN_MS) : 0;
    for (let round = 0; ; round += 1) {
      const published = await this.find(reading, version);
      if (published === 'unknown') throw new Problem('version_not_found');
      if (published !== 'due') return published;
      if (round >= rounds) throw await this.notAvailable(reading);
      await delay(LOOK_AGAIN_MS);
    }
  }

  /** A reading may show a version before the publications do: both follow the log, each at its own speed. */
  private async find({ readingId, documentVersion: shown }: ReadingSummary, version: number | undefined) {
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
