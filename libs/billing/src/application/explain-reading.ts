import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId, streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import { bookEvent, unreadableEntry, sentenceOf } from '../audit/book-entry.js';
import {
  ExplainReading,
  type ReadingExplanation,
  type ExplainedMovement,
  type UnreadableEntry,
} from '../contracts/audit.js';
import { bookStream, type CreditsEvent } from '../contracts/events.js';
import { evolve, noBook } from '../domain/credits.state.js';
import { usedBy, type UsedCredits } from '../domain/value.js';
import { postings } from '../domain/postings.js';
import { SETTLEMENT } from '../processes.js';

/** A movement of a reading, with what it took from grants. */
interface Moved {
  readonly movement: Movement;
  readonly used: readonly UsedCredits[];
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
    let book = await this.movedIn(bookStream(owner, mode ?? true), readingId);
    // A reservation that no reading has named yet may be of either book.
    if (mode === undefined && book.moved.length === 0) {
      const test = await this.movedIn(bookStream(owner, false), readingId);
      if (test.moved.length > 0) book = test;
    }
    const ofReading = opaque.some(({ stored }) => streamId(stored.stream) === readingId);
    if (reading.length + book.moved.length === 0 && !ofReading) return null;
    const unreadable = [...opaque, ...book.opaque].map(unreadableEntry);
    return explain(readingId, owner, reading, book.moved, unreadable);
  }

  private async movedIn(book: string, readingId: string) {
    const moved: Moved[] = [];
    const opaque: OpaqueEvent[] = [];
    let state = noBook;
    for await (const stored of this.store.read(book)) {
      const event = bookEvent(stored);
      if (isOpaque(event)) {
        opaque.push(event);
        continue;
      }
      if (isMovementOf(event, readingId)) moved.push({ movement: event, used: usedBy(event, state) });
      state = evolve(state, event);
    }
    return { moved, opaque };
  }
}

type Movement = Extract<Recorded<CreditsEvent>, { readonly data: { readonly readingId: string } }>;

const isMovementOf = (event: Recorded<CreditsEvent>, readingId: string): event is Movement =>
  'readingId' in event.data && event.data.readingId === readingId;

const OUTCOMES = {
  ReadingCompleted: { outcome: 'completed', settledBy: 'CreditsCaptured' },
  ReadingFailed: { outcome: 'failed', settledBy: 'CreditsReleased' },
  ReadingAbandoned: { outcome: 'abandoned', settledBy: 'CreditsReleased' },
} as const;

type EndType = keyof typeof OUTCOMES;
type End = Extract<Recorded<ReadingEvent>, { type: EndType }>;
type Requested = Extract<Recorded<ReadingEvent>, { type: 'ReadingRequested' }>;
const isEnd = (event: Recorded<ReadingEvent>): event is End => event.type in OUTCOMES;

/**
 * Joins a reading's events and its book's movements by event id, in both directions. A settlement names the event that
 * ended the reading. A reservation belongs to the ReadingRequested that names it.
 */
const explain = (
  readingId: string,
  workspaceId: string,
  reading: readonly Recorded<ReadingEvent>[],
  moved: readonly Moved[],
  unreadable: readonly UnreadableEntry[],
): ReadingExplanation => {
  const ends = reading.filter(isEnd);
  const end = endOf(reading, ends);
  const credits = moved.map((one) => explained(one, reading));
  return {
    readingId,
    workspaceId,
    outcome: end ? OUTCOMES[end.type].outcome : 'open',
    reading: reading.map(({ id, revision, type, metadata }) => ({
      eventId: id,
      revision,
      type,
      occurredAt: metadata.occurredAt,
      causes: credits.filter(({ cause }) => cause?.eventId === id).map(({ eventId }) => eventId),
    })),
    credits,
    findings: [
      ...unreadable
        .filter(({ setAside }) => setAside === null)
        .map((entry) => `${entry.stream}@${entry.revision} (${entry.type}) ${sentenceOf(entry)}`),
      ...misfits(ends, credits),
    ],
    setAside: unreadable.filter(({ setAside }) => setAside !== null),
  };
};

/**
 * How the reading ended. Reservations before and beside that of its request may be abandoned, which does not end it.
 */
const endOf = (reading: readonly Recorded<ReadingEvent>[], ends: readonly End[]): End | undefined => {
  const request = reading.findLast(({ type }) => type === 'ReadingRequested') as Requested | undefined;
  return ends.findLast(({ data }) => !request || data.reservationId === request.data.reservationId);
};

const explained = (
  { movement: event, used }: Moved,
  reading: readonly Recorded<ReadingEvent>[],
): ExplainedMovement => {
  const { data, metadata } = event;
  const cause = reading.find((one) =>
    'causeEventId' in data
      ? one.id === data.causeEventId
      : one.type === 'ReadingRequested' && one.data.reservationId === data.reservationId,
  );
  return {
    eventId: event.id,
    revision: event.revision,
    type: event.type,
    occurredAt: metadata.occurredAt,
    reservationId: data.reservationId,
    postings: postings(event),
    allocations: 'allocations' in data ? data.allocations : [],
    paidBy: used.map(({ grantId, credits, cents }) => ({ grantId, credits, cents })),
    actor: metadata.actor,
    correlationId: metadata.correlationId,
    causationId: metadata.causationId,
    cause: cause ? { eventId: cause.id, type: cause.type, revision: cause.revision } : null,
  };
};

/** Each end settles its own reservation. Of one whose settlement an operator has passed over, nothing is expected. */
function* misfits(ends: readonly End[], credits: readonly ExplainedMovement[]): Generator<string> {
  const passedOver = ends.filter(({ setAside }) => setAside?.consumers?.includes(SETTLEMENT));
  const excused = new Set(passedOver.map(({ data }) => data.reservationId));
  const settlements = credits.filter(({ type }) => type !== 'CreditsReserved');
  for (const { type, cause, eventId, reservationId } of settlements)
    if (cause === null && !excused.has(reservationId))
      yield `${type} ${eventId} names no event of the reading`;
  for (const { id, type: end, data } of ends) {
    if (excused.has(data.reservationId)) continue;
    const own = settlements.filter(({ reservationId }) => reservationId === data.reservationId);
    const { settledBy } = OUTCOMES[end];
    if (own.length === 0) yield `${end} ${id} is not settled yet by ${settledBy}`;
    for (const { type, eventId } of own)
      if (type !== settledBy) yield `${end} ${id} was settled by ${type} ${eventId}`;
    if (own.length > 1) yield `${end} ${id} was settled ${own.length} times`;
  }
}
