import { decode } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { creditsEvents, type CreditsEvent } from '../src/contracts/events.js';
import { nextItems, noItems } from '../src/domain/carried.js';
import { evolve, noBook } from '../src/domain/credits.state.js';
import { itemsOf } from '../src/domain/due.js';
import { rechained, renumbered } from './book.js';

/** Room for an item or two. */
const SMALL = 800;

/**
 * The same history with closes in parts, much smaller ones than the service makes.
 * @returns for each event, the events that take its place
 */
export const inParts = (history: readonly CreditsEvent[], mostBytes = SMALL): CreditsEvent[][] => {
  let state = noBook;
  return history.map((event) => {
    const own: CreditsEvent[] = [];
    const add = (one: CreditsEvent): void => {
      own.push(one);
      state = evolve(state, one);
    };
    if (event.type !== 'PeriodClosed') {
      add(event);
      return own;
    }
    const next = () => nextItems(itemsOf(state), state.carried?.items ?? noItems, mostBytes);
    for (let items = next(); items; items = next()) {
      const part = state.carried?.parts ?? 0;
      add({ type: 'PeriodCarried', data: { period: state.period, part, ...items } });
    }
    const { carried } = state;
    const items = carried ? noItems : {};
    const named = carried && { parts: carried.parts, digest: carried.digest };
    add({
      type: 'PeriodClosed',
      data: { ...event.data, ...items, eventCount: state.eventCount, carried: named },
    });
    return own;
  });
};

/** The same for the stored events of a book, with revisions and chain made again. */
export const storedInParts = (events: readonly StoredEvent[]): StoredEvent[] => {
  const divided = inParts(events.map((event) => decode(creditsEvents, event)));
  const stored = events.flatMap((event, index) =>
    divided[index]!.map(({ type, data }, place) => ({
      ...event,
      id: type === event.type ? event.id : `${event.id}-part-${place}`,
      type,
      data,
      metadata: {
        ...event.metadata,
        schemaVersion: creditsEvents.definitions[type].version,
      },
    })),
  );
  return rechained(renumbered(stored));
};
