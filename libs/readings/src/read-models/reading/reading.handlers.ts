import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { instant } from '#event-sourcing/core/clock.js';
import {
  AsksForRefusal,
  GetExternalId,
  GetPublicationTime,
  GetReadingResult,
  GetReadingSummary,
  type ReadingSummary,
} from '../../contracts/queries.js';
import { askedOutcome } from '../../domain/test-outcome/test-outcome.js';
import { ReadingQuery } from './reading.query.js';

@QueryHandler(GetReadingSummary)
export class GetReadingSummaryHandler implements IQueryHandler<GetReadingSummary> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetReadingSummary): Promise<ReadingSummary | null> {
    const found = await this.readings.find(readingId);
    if (!found) return null;
    const { workspaceId, livemode, status, locale, erasedAt, document } = found.record;
    const documentVersion = document?.version ?? null;
    return { readingId, workspaceId, livemode, status, locale, erasedAt, documentVersion };
  }
}

@QueryHandler(GetReadingResult)
export class GetReadingResultHandler implements IQueryHandler<GetReadingResult> {
  constructor(private readonly readings: ReadingQuery) {}

  execute({ readingId }: GetReadingResult) {
    return this.readings.result(readingId);
  }
}

@QueryHandler(GetExternalId)
export class GetExternalIdHandler implements IQueryHandler<GetExternalId> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetExternalId): Promise<string | null> {
    const found = await this.readings.find(readingId);
    const input = found && (await this.readings.unbrokenInput(found));
    return input?.externalId ?? null;
  }
}

@QueryHandler(GetPublicationTime)
export class GetPublicationTimeHandler implements IQueryHandler<GetPublicationTime> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetPublicationTime): Promise<string | null> {
    const found = await this.readings.find(readingId);
    if (!found || found.record.livemode) return null;
    const { createdAt, completedAt } = found.record;
    const outcome = askedOutcome((await this.readings.input(found))?.metadata);
    // Its row may be a moment behind its result.
    const from = Date.parse(completedAt ?? createdAt);
    return outcome?.kind === 'publication_late' ? instant(from + outcome.byMs) : null;
  }
}

@QueryHandler(AsksForRefusal)
export class AsksForRefusalHandler implements IQueryHandler<AsksForRefusal> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId, attempt }: AsksForRefusal): Promise<boolean> {
    const found = await this.readings.find(readingId);
    if (!found || found.record.livemode) return false;
    const outcome = askedOutcome((await this.readings.soundInput(found))?.metadata);
    return outcome?.kind === 'webhook_refused' && attempt <= (outcome.attempts ?? attempt);
  }
}
