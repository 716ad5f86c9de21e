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
    let state = noBook;
    for await (const stored of this.store.read(book)) {
      const event = bookEvent(stored);
      if (isOpaque(event)) {
        moved.opaque.push(event);
        continue;
      }
      if (isMovementOf(event, readingId)) {
        moved.movements.push(event);
        moved.used.set(event.id, usedBy(event, state));
      }
      state = evolve(state, event);
    }
    return moved;
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
  movements: readonly Movement[],
  used: ReadonlyMap<string, readonly UsedCredits[]>,
  unreadable: readonly UnreadableEntry[],
): ReadingExplanation => {
  const ends = reading.filter(isEnd);
  const end = endOf(reading, ends);
  const credits = movements.map((movement) => explained(movement, reading, used.get(movement.id) ?? []));
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
      ...misfits(ends, movements, credits),
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
  event: Movement,
  reading: readonly Recorded<ReadingEvent>[],
  used: readonly UsedCredits[],
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
function* misfits(
  ends: readonly End[],
  movements: readonly Movement[],
  credits: readonly ExplainedMovement[],
): Generator<string> {
  const passedOver = ends.filter(({ setAside }) => setAside?.consumers?.includes(SETTLEMENT));
  const excused = new Set(passedOver.map(({ data }) => data.reservationId));
  for (const { type, cause, eventId, reservationId } of credits) {
    if (type !== 'CreditsReserved' && cause === null && !excused.has(reservationId))
      yield `${type} ${eventId} names no event of the reading`;
  }
  for (const end of ends) {
    if (!excused.has(end.data.reservationId)) yield* misfitsOf(end, movements);
  }
}

function* misfitsOf(end: End, movements: readonly Movement[]): Generator<string> {
  const settlements = movements.filter(
    ({ type, data }) => type !== 'CreditsReserved' && data.reservationId === end.data.reservationId,
  );
  const { settledBy } = OUTCOMES[end.type];
  if (settlements.length === 0) yield `${end.type} ${end.id} is not settled yet by ${settledBy}`;
  for (const { type, id } of settlements) {
    if (type !== settledBy) yield `${end.type} ${end.id} was settled by ${type} ${id}`;
  }
  if (settlements.length > 1) yield `${end.type} ${end.id} was settled ${settlements.length} times`;
}
