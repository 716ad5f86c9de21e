import { expect, it } from '@jest/globals';
import type { Recorded } from '#event-sourcing/core/event.js';
import { readingEvents, type ReadingEvent } from '../../contracts/events.js';
import { historyEvent } from './reading-history.js';

const recorded = (event: ReadingEvent): Recorded<ReadingEvent> => ({
  ...event,
  id: 'e1',
  stream: 'reading-r1',
  revision: 4n,
  position: 12n,
  metadata: {
    correlationId: 'c1',
    causationId: 'c1',
    workspaceId: 'ws_1',
    actor: 'system:generation',
    occurredAt: '2026-04-04T09:30:00.000Z',
    schemaVersion: 1,
  },
});

it('A started attempt shows its number and time, not its worker', () => {
  const event = recorded({
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
  const event = recorded({
    type: 'ReadingRequested',
    data: {
      workspaceId: 'ws_1',
      livemode: true,
      productId: 'theme',
      profileId: 'evan',
      locale: 'fr-FR',
      asOf: '2026-04-04',
      sealedInput: 'c2VhbGVk',
      cost: 20,
      reservationId: 'r1',
    },
  });
  expect(historyEvent(event, 4)).toMatchObject({ type: 'requested', data: { cost: 20 } });
  expect(JSON.stringify(historyEvent(event, 4))).not.toMatch(/c2VhbGVk|digest|r1/);
});

it('Every type of event has its place in the history, except an abandoned reservation', () => {
  const hidden = Object.keys(readingEvents.definitions).filter(
    (type) => historyEvent(recorded({ type, data: {} } as unknown as ReadingEvent), 4) === null,
  );
  expect(hidden).toEqual(['ReadingAbandoned']);
});
