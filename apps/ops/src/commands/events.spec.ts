import { expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { drawStory, tellStory } from './events.js';

const event = (
  id: string,
  stream: string,
  type: string,
  at: number,
  causationId: string,
  actor = 'system:spec',
) =>
  ({
    id,
    stream,
    type,
    position: BigInt(at),
    metadata: { causationId, actor, occurredAt: `2026-04-12T10:00:00.${String(at).padStart(3, '0')}Z` },
  }) as StoredEvent;

const reserved = event('e1', 'credits-ws_1', 'CreditsReserved', 9, 'req_1', 'apiKey:Ab3d');
const requested = event('e2', 'reading-1', 'ReadingRequested', 10, 'req_1', 'apiKey:Ab3d');
const completed = event('e3', 'reading-1', 'ReadingCompleted', 200, 'e2');
const captured = event('e4', 'credits-ws_1', 'CreditsCaptured', 220, 'e3');
const delivery = { endpointId: 'we_1', eventType: 'reading.completed', status: 'succeeded', attempts: 2 };

it('A story has every event once, in log order, each from its cause or the caller, and its deliveries at the end', () => {
  const story = tellStory([captured, requested, completed, reserved, requested]);
  expect(drawStory(story, [delivery as never])).toBe(`sequenceDiagram
  participant apiKey
  participant credits
  participant reading
  participant webhooks
  participant we_1
  apiKey->>credits: CreditsReserved (+0 ms)
  apiKey->>reading: ReadingRequested (+1 ms)
  reading->>reading: ReadingCompleted (+191 ms)
  reading->>credits: CreditsCaptured (+211 ms)
  webhooks->>we_1: reading.completed (succeeded, 2 attempts)`);
});
