import { fold } from '@app/event-sourcing/core/decider.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import type { ReadingEvent } from '../../contracts/events.js';
import { readingDecider } from '../../domain/reading/reading.decider.js';
import type { StoredReading } from './stored-reading.js';

/** The record of a reading from its own events, for the moment before it is projected. `null`: never requested. */
export const foldRecord = (
  readingId: string,
  events: readonly Recorded<ReadingEvent>[],
): StoredReading | null => {
  const reading = fold(readingDecider, readingDecider.initialState, events);
  if (reading.status === 'none') return null;
  const at = (type: ReadingEvent['type']): string | null =>
    events.findLast((event) => event.type === type)?.metadata.occurredAt ?? null;
  const failedAt = at('ReadingFailed');
  const { workspaceId, productId, profileId, locale, sealedInput } = reading.request;
  return {
    sealedInput,
    record: {
      readingId,
      workspaceId,
      status: reading.status,
      productId,
      profileId,
      locale,
      createdAt: at('ReadingRequested')!,
      updatedAt: events.at(-1)!.metadata.occurredAt,
      completedAt: at('ReadingCompleted'),
      erasedAt: at('ReadingErased'),
      failure: reading.failure && failedAt ? { code: reading.failure, occurredAt: failedAt } : null,
      document: null,
    },
  };
};
