import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { drawStory, tellStory } from './events.js';

const event = (
  id: string,
  stream: string,
  type: string,
  position: bigint,
  causationId: string,
  actor = 'system:spec',
): StoredEvent => ({
  id,
  stream,
  revision: 0n,
  position,
  type,
  data: {},
  metadata: {
    correlationId: 'req_1',
    causationId,
    workspaceId: 'ws_1',
    actor,
    occurredAt: `2026-04-12T10:00:00.${String(position).padStart(3, '0')}Z`,
    schemaVersion: 1,
  },
});

const reserved = event('e1', 'credits-ws_1', 'CreditsReserved', 9n, 'req_1', 'apiKey:Ab3d');
const requested = event('e2', 'reading-1', 'ReadingRequested', 10n, 'req_1', 'apiKey:Ab3d');
const completed = event('e3', 'reading-1', 'ReadingCompleted', 200n, 'e2');
const captured = event('e4', 'credits-ws_1', 'CreditsCaptured', 220n, 'e3');

describe('the story of a reading', () => {
  it('lists every event once, in log order, with its cause', () => {
    const story = tellStory([captured, requested, completed, reserved, requested]);
    expect(story.map(({ type, afterMs, cause }) => [type, afterMs, cause.type ?? cause.id])).toEqual([
      ['CreditsReserved', 0, 'req_1'],
      ['ReadingRequested', 1, 'req_1'],
      ['ReadingCompleted', 191, 'ReadingRequested'],
      ['CreditsCaptured', 211, 'ReadingCompleted'],
    ]);
  });

  it('is drawn with an arrow from the stream of the cause, or from the caller', () => {
    expect(drawStory(tellStory([reserved, requested, completed, captured]))).toBe(
      [
        'sequenceDiagram',
        '  participant apiKey',
        '  participant credits',
        '  participant reading',
        '  apiKey->>credits: CreditsReserved (+0 ms)',
        '  apiKey->>reading: ReadingRequested (+1 ms)',
        '  reading->>reading: ReadingCompleted (+191 ms)',
        '  reading->>credits: CreditsCaptured (+211 ms)',
      ].join('\n'),
    );
  });

  it('ends the drawing with its deliveries', () => {
    const delivery = {
      deliveryId: 'd',
      endpointId: 'we_1',
      eventId: 'evt_e3',
      eventType: 'reading.completed',
      status: 'succeeded',
      attempts: 2,
      createdAt: '2026-04-12T10:00:00.300Z',
      settledAt: '2026-04-12T10:00:05.300Z',
    } as const;
    expect(
      drawStory(tellStory([completed]), [delivery])
        .split('\n')
        .slice(-3),
    ).toEqual([
      '  participant we_1',
      '  system->>reading: ReadingCompleted (+0 ms)',
      '  webhooks->>we_1: reading.completed (succeeded, 2 attempts)',
    ]);
  });
});
