import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import {
  GetExternalId,
  GetReadingResult,
  GetReadingSummary,
  type ReadingSummary,
} from '../../contracts/queries.js';
import { ReadingQuery } from './reading.query.js';

@QueryHandler(GetReadingSummary)
export class GetReadingSummaryHandler implements IQueryHandler<GetReadingSummary> {
  constructor(private readonly readings: ReadingQuery) {}

  async execute({ readingId }: GetReadingSummary): Promise<ReadingSummary | null> {
    const found = await this.readings.find(readingId);
    if (!found) return null;
    const { workspaceId, livemode, status, locale, erasedAt } = found.record;
    return { readingId, workspaceId, livemode, status, locale, erasedAt };
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
    const input = found && (await this.readings.soundInput(found));
    return input?.externalId ?? null;
  }
}
