import { expect, it } from '@jest/globals';
import type { Recorded } from '#event-sourcing/core/event.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { readingEvents, type ReadingEvent } from '../contracts/events.js';
import { REQUEST } from '../../test/readings.js';
import { historyEvent } from './reading-history.js';

const happened = (event: ReadingEvent): Recorded<ReadingEvent> =>
  recorded('reading-r1', event, { metadata: { occurredAt: '2026-04-04T09:30:00.000Z' } });

it('An event shows its public facts alone: nothing sealed, no worker and no digest', () => {
  const requested = historyEvent(happened({ type: 'ReadingRequested', data: REQUEST }), 4);
  expect(requested).toMatchObject({ revision: 4, type: 'requested', data: { cost: 20 } });
  expect(JSON.stringify(requested)).not.toMatch(/c2VhbGVk|digest|r1/);
  const data = { attempt: 2, workerId: 'worker-a', leaseUntil: '2026-04-04T09:31:00.000Z' };
  expect(historyEvent(happened({ type: 'ReadingStarted', data }), 5)?.data).toEqual({ attempt: 2 });
});

it('Every type of event has its place in the history, except an abandoned reservation', () => {
  const hidden = Object.keys(readingEvents.definitions).filter(
    (type) => historyEvent(happened({ type, data: {} } as unknown as ReadingEvent), 4) === null,
  );
  expect(hidden).toEqual(['ReadingAbandoned']);
});
