import { expect, it } from '@jest/globals';
import { publicEventId } from '#webhooks/contracts/index.js';
import type { Chapter } from '../commands/events/story.js';
import { causeOf } from './story-drawing.js';

const chapter = (type: string, revision: bigint): Chapter => ({
  position: 100n + revision,
  occurredAt: '2026-04-12T10:00:00.000Z',
  afterMs: 0,
  stream: 'reading-1',
  revision,
  type,
  eventId: `e${revision}`,
  actor: 'system:spec',
  correlationId: 'req_1',
  cause: { id: 'req_1', type: null, stream: null },
});

it('joins a delivery with the event that it tells of, and a trial with none', () => {
  const story = [chapter('ReadingRequested', 0n), chapter('ReadingCompleted', 2n)];
  const eventId = publicEventId({ stream: 'reading-1', revision: 2n }, 'reading.completed');
  expect(causeOf(story, { eventId, eventType: 'reading.completed' })?.type).toBe('ReadingCompleted');
  expect(causeOf(story, { eventId, eventType: 'reading.published' })).toBeUndefined();
  expect(causeOf(story, { eventId: 'evt_trial', eventType: 'reading.completed' })).toBeUndefined();
  expect(causeOf(story, { eventId, eventType: 'replay.finished' })).toBeUndefined();
});
