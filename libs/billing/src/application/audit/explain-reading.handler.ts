import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId, streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import { LIVE_BOOKS, TEST_BOOKS, booksOf, type BookKind } from '../../audit/book-kind.js';
import { BookMoney } from '../../audit/book-money.js';
import { explain, isMovementOf } from '../../audit/explain.js';
import { bookEvent, unreadableEntry } from '../../audit/unreadable-entry.js';
import { ExplainReading, type ReadingExplanation } from '../../contracts/audit.js';
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
    let kind = booksOf(mode ?? true);
    let moved = await this.movedIn(kind, owner, readingId);
    // A reservation that no reading has named yet may be of either book.
    if (mode === undefined && moved.movements.length === 0) {
      const test = await this.movedIn(TEST_BOOKS, owner, readingId);
      if (test.movements.length > 0) [kind, moved] = [TEST_BOOKS, test];
    }
    const { movements, used } = moved;
    const ofReading = opaque.some(({ stored }) => streamId(stored.stream) === readingId);
    if (reading.length + movements.length === 0 && !ofReading) return null;
    const unreadable = [...opaque, ...moved.opaque].map(unreadableEntry);
    return explain(readingId, owner, reading, movements, used, unreadable, kind);
  }

  private async movedIn(kind: BookKind, owner: string, readingId: string): Promise<Moved> {
    const moved: Moved = { movements: [], used: new Map(), opaque: [] };
    const worth = kind === LIVE_BOOKS ? new Worth() : null;
    for await (const stored of this.store.read(streamName(kind.category, owner))) {
      const event = kind.entryOf(stored);
      if (isOpaque(event)) {
        moved.opaque.push(event);
        continue;
      }
      const left = worth?.see(event as Parameters<Worth['see']>[0]) ?? [];
      if (!isMovementOf(event, readingId)) continue;
      moved.movements.push(event);
      moved.used.set(event.id, left);
    }
    return moved;
  }
}

/** What the credits of a live book are worth. */
class Worth {
  private readonly money = new BookMoney();
  private state = noBook;

  see(event: Exclude<ReturnType<typeof bookEvent>, OpaqueEvent>): readonly UsedCredits[] {
    const before = this.state;
    this.state = evolve(before, event);
    return this.money.see(event, before, this.state);
  }
}
