import { describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { Loaded } from '@app/event-sourcing/handling/folded.js';
import { correctedBook, eventfulBook, idleBook, WS } from '../test/book.js';
import { bookClosedInParts } from '../test/crowded-book.js';
import { bookEvent, isOpaque } from './audit/unreadable-entry.js';
import { fromBody, toBody } from './book-snapshots.js';
import { creditsEvents } from './contracts/events.js';
import { evolve, FOLD_VERSION, noBook, type Credits } from './domain/credits/credits.state.js';

const BOOKS = { eventfulBook, correctedBook, idleBook, bookClosedInParts };
/** Of a book of thousands of events, not every state. */
const isLookedAt = (index: number, { length }: readonly StoredEvent[]): boolean =>
  length < 100 || index % 3_000 === 0 || index > length - 4;

const after = (book: Credits, stored: StoredEvent): Credits => {
  const event = bookEvent(stored);
  if (isOpaque(event)) throw new TypeError(`${stored.type} cannot be read`);
  return evolve(book, event);
};

/** The book before its first event, and after each of the others. */
const statesOf = (events: readonly StoredEvent[]): readonly Credits[] =>
  events.reduce<Credits[]>((states, event) => [...states, after(states.at(-1)!, event)], [noBook]);

const loaded = (state: Credits, revision: bigint): Loaded<Credits> => ({
  state,
  revision,
  chain: 'c0ffee',
  last: { occurredAt: 1, recordedAt: Infinity },
  workspaceId: WS,
  quarantineChanges: 2,
  since: 0n,
});

describe.each(Object.entries(BOOKS))('a snapshot of %s', (_, made) => {
  it('is the book itself after every event, and goes on to the same end', async () => {
    const { events } = await made();
    const states = statesOf(events);
    for (const [index, state] of states.entries()) {
      if (!isLookedAt(index, events)) continue;
      const kept = loaded(state, BigInt(index));
      const found = fromBody(toBody(kept));
      expect(found).toStrictEqual({ ...kept, since: kept.revision });
      expect(events.slice(index).reduce(after, found.state)).toEqual(states.at(-1));
    }
  });
});

it('The fold has not changed since its version was raised: otherwise raise FOLD_VERSION, and note the new digest', async () => {
  const seen = new Set<string>();
  let digest = '';
  for (const made of Object.values(BOOKS)) {
    const { events } = await made();
    for (const { type } of events) seen.add(type);
    for (const [index, state] of statesOf(events).entries())
      if (isLookedAt(index, events)) digest = hash('sha256', digest + canonicalJson(state), 'hex');
  }
  expect([...seen].toSorted()).toEqual(Object.keys(creditsEvents.definitions).toSorted());
  expect({ version: FOLD_VERSION, digest }).toEqual({
    version: 1,
    digest: 'd9b37bf2f51da59da6af87c92c3d04632ed19ba1bf5a49bc543dd2bf35a36257',
  });
});
