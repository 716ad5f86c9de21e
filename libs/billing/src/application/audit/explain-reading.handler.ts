import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decodeOrShow, isOpaque, type OpaqueEvent } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId, streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { readingEvents, type ReadingEvent } from '@app/readings/contracts/index.js';
import { explain, isMovementOf } from '../../audit/explain.js';
import { bookEvent, unreadableEntry } from '../../audit/unreadable-entry.js';
import { ExplainReading, type ReadingExplanation } from '../../contracts/audit.js';
import { creditsEvents } from '../../contracts/events.js';

@QueryHandler(ExplainReading)
export class ExplainReadingHandler implements IQueryHandler<ExplainReading> {
  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  async execute({ readingId, workspaceId }: ExplainReading): Promise<ReadingExplanation | null> {
    const reading: Recorded<ReadingEvent>[] = [];
    const opaque: OpaqueEvent[] = [];
    for await (const stored of this.store.read(streamName(readingEvents.category, readingId))) {
      const event = decodeOrShow(readingEvents, stored);
      if (isOpaque(event)) opaque.push(event);
      else reading.push(event);
    }
    const owner =
      workspaceId ??
      reading.flatMap(({ data }) => ('workspaceId' in data ? data.workspaceId : []))[0] ??
      opaque.map(({ stored }) => stored.metadata.workspaceId).find((id) => id !== '');
    if (owner === undefined) return null;
    const movements: Parameters<typeof explain>[3][number][] = [];
    for await (const stored of this.store.read(streamName(creditsEvents.category, owner))) {
      const event = bookEvent(stored);
      if (isOpaque(event)) opaque.push(event);
      else if (isMovementOf(event, readingId)) movements.push(event);
    }
    const ofReading = opaque.some(({ stored }) => streamId(stored.stream) === readingId);
    if (reading.length + movements.length === 0 && !ofReading) return null;
    return explain(readingId, owner, reading, movements, opaque.map(unreadableEntry));
  }
}
