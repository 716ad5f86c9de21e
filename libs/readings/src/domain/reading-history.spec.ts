import { expect, it } from '@jest/globals';
import type { Recorded } from '#event-sourcing/core/event.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { readingEvents, type ReadingEvent } from '../contracts/events.js';
import { REQUEST } from '../../test/readings.js';
import { historyEvent } from './reading-history.js';

const happened = (event: ReadingEvent): Recorded<ReadingEvent> =>
  recorded('reading-r1', event, { metadata: { occurredAt: '2026-04-04T09:30:00.000Z' } });

it('A started attempt shows its number and time, not its worker', () => {
  const event = happened({
    type: 'ReadingStarted',
    data: { attempt: 2, workerId: 'worker-a', leaseUntil: '2026-04-04T09:31:00.000Z' },
  });
  expect(historyEvent(event, 4)).toEqual({
    revision: 4,
    type: 'started',
    occurredAt: '2026-04-04T09:30:00.000Z',
    data: { attempt: 2 },
  });
});

it('A request shows its cost, nothing sealed and no digest', () => {
  const event = happened({
    type: 'ReadingRequested',
    data: REQUEST,
  });
  expect(historyEvent(event, 4)).toMatchObject({ type: 'requested', data: { cost: 20 } });
  expect(JSON.stringify(historyEvent(event, 4))).not.toMatch(/c2VhbGVk|digest|r1/);
});

it('Every type of event has its place in the history, except an abandoned reservation', () => {
  const hidden = Object.keys(readingEvents.definitions).filter(
    (type) => historyEvent(happened({ type, data: {} } as unknown as ReadingEvent), 4) === null,
  );
  expect(hidden).toEqual(['ReadingAbandoned']);
});
