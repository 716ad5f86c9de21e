import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId, streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import { BookMoney } from '../../audit/book-money.js';
import { explain, isMovementOf } from '../../audit/explain.js';
import { bookEvent, unreadableEntry } from '../../audit/unreadable-entry.js';
import { ExplainReading, type ReadingExplanation } from '../../contracts/audit.js';
import { bookStream } from '../../contracts/events.js';
import { evolve, noBook } from '../../domain/credits/credits.state.js';
import type { UsedCredits } from '../../domain/credits/value.js';

interface Moved {
  readonly movements: Parameters<typeof explain>[3][number][];
  readonly used: Map<string, readonly UsedCredits[]>;
  readonly opaque: OpaqueEvent[];
}

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
    const mode = reading.flatMap(({ data }) => ('livemode' in data ? data.livemode : []))[0];
    let moved = await this.movedIn(bookStream(owner, mode ?? true), readingId);
    // A reservation that no reading has named yet may be of either book.
    if (mode === undefined && moved.movements.length === 0) {
      const test = await this.movedIn(bookStream(owner, false), readingId);
      if (test.movements.length > 0) moved = test;
    }
    const { movements, used } = moved;
    const ofReading = opaque.some(({ stored }) => streamId(stored.stream) === readingId);
    if (reading.length + movements.length === 0 && !ofReading) return null;
    const unreadable = [...opaque, ...moved.opaque].map(unreadableEntry);
    return explain(readingId, owner, reading, movements, used, unreadable);
  }

  private async movedIn(book: string, readingId: string): Promise<Moved> {
    const moved: Moved = { movements: [], used: new Map(), opaque: [] };
    const money = new BookMoney();
    let state = noBook;
    for await (const stored of this.store.read(book)) {
      const event = bookEvent(stored);
      if (isOpaque(event)) {
        moved.opaque.push(event);
        continue;
      }
      const before = state;
      state = evolve(before, event);
      const left = money.see(event, before, state);
      if (!isMovementOf(event, readingId)) continue;
      moved.movements.push(event);
      moved.used.set(event.id, left);
    }
    return moved;
  }
}
