import { decodeOrShow, isOpaque, type OpaqueEvent } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId, streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { readingEvents, type ReadingEvent } from '@app/readings/contracts/index.js';
import { BookMoney } from '../../audit/book-money.js';
import { explain, isMovementOf } from '../../audit/explain.js';
import { bookEvent, unreadableEntry } from '../../audit/unreadable-entry.js';
import { ExplainReading, type ReadingExplanation } from '../../contracts/audit.js';
import { creditsEvents } from '../../contracts/events.js';
import { evolve, noBook } from '../../domain/credits/credits.state.js';
import type { UsedCredits } from '../../domain/credits/value.js';

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
    const used = new Map<string, readonly UsedCredits[]>();
    const money = new BookMoney();
    let state = noBook;
    for await (const stored of this.store.read(streamName(creditsEvents.category, owner))) {
      const event = bookEvent(stored);
      if (isOpaque(event)) {
        opaque.push(event);
        continue;
      }
      const before = state;
      state = evolve(before, event);
      const left = money.see(event, before, state);
      if (!isMovementOf(event, readingId)) continue;
      movements.push(event);
      used.set(event.id, left);
    }
    const ofReading = opaque.some(({ stored }) => streamId(stored.stream) === readingId);
    if (reading.length + movements.length === 0 && !ofReading) return null;
    return explain(readingId, owner, reading, movements, used, opaque.map(unreadableEntry));
  }
}
