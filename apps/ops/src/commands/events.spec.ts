import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { projectPath } from '#platform/project-path.js';
import { problemOf, shownEvent, findEvents } from './events.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';

const golden = (category: string, name: string): StoredEvent => {
  const { type, version, data } = JSON.parse(
    readFileSync(projectPath(`test/golden/events/${name}.json`), 'utf8'),
  ) as { type: string; version: number; data: object };
  const metadata = { workspaceId: 'ws_4f1c7d2a9b3e4d5f8a6b7c8d9e0f1a2b', schemaVersion: version };
  return recorded(`${category}-5b0c8f9e-6a5d-8c3b-9f2e-1d4c7b6a5e8f`, { type, data }, { metadata });
};

describe('an event as shown to operators', () => {
  it.each(['ReadingRequested.v1', 'ReadingCompleted.v1'])('has no sealed members: %s', (name) => {
    const event = golden('reading', name);
    const { sealedInput, sealedResult } = event.data as Record<string, string | undefined>;
    const shown = JSON.stringify(shownEvent(event).data);
    expect(shown).not.toContain(sealedInput ?? sealedResult);
    expect(shown).toContain('ws_4f1c7d2a9b3e4d5f8a6b7c8d9e0f1a2b');
  });

  it('is complete when it concerns no person', () => {
    const event = golden('credits', 'CreditsReserved.v1');
    expect(shownEvent(event)).toBe(event);
  });
});

it('a malformed event of an order line has a problem that operators may decide about', () => {
  const of = (stream: string) => ({ ...golden('credits', 'CreditsReserved.v1'), stream });
  expect(problemOf(of('orderline-abc'), '')).toMatch(/\w/);
  expect(() => problemOf(of('unheard-abc'), '')).toThrow('The service does not read unheard-abc.');
});

const DAY_MS = 86_400_000;
const SINCE = Date.parse('2026-04-01T00:00:00.000Z');

/** @param occurred days from SINCE that the writer claims @param at days by the store's clock, if it has one */
const event = (id: string, occurred: number, at?: number): StoredEvent => ({
  ...recorded(
    `tally-${id}`,
    { type: 'Added', data: {} },
    { id, metadata: { occurredAt: new Date(SINCE + occurred * DAY_MS).toISOString() } },
  ),
  ...(at !== undefined && { recordedAt: SINCE + at * DAY_MS }),
});

/** @param newestFirst the log, backwards */
const found = async (...newestFirst: StoredEvent[]): Promise<string[]> => {
  const store = {
    async *readAll() {
      yield* newestFirst;
    },
  } as unknown as EventStore;
  const events = await findEvents(store, { type: 'Added' }, { since: SINCE, limit: 50 });
  return events.map(({ id }) => id);
};

describe('Events since a time', () => {
  it('include those before one that its writer dated back', async () => {
    expect(await found(event('c', 3, 3), event('forged', -900, 2), event('a', 1, 1))).toEqual([
      'c',
      'forged',
      'a',
    ]);
  });

  it('end with the first one that the store recorded earlier', async () => {
    expect(await found(event('b', 1, 1), event('a', 1, -1), event('unread', 1, 1))).toEqual(['b']);
  });
});
