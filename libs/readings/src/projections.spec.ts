import { describe, expect, it } from '@jest/globals';
import type { EventOf } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { REQUEST } from '../test/readings.js';
import type { ReadingEvent, BatchEvent } from './contracts/events.js';
import type { PublicationFeed } from './contracts/ports.js';
import { evolveReading, type ReadingRow, batchProjection } from './projections.js';
import { given } from '#event-sourcing/testing/projection-spec.js';

type Event = ReadingEvent | EventOf<PublicationFeed>;

const ID = '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11';
const at = (second: number): string => `2026-04-12T10:00:${String(second).padStart(2, '0')}.000Z`;
const happened = (second: number, event: Event): Recorded<Event> =>
  recorded(`${event.type === 'DocumentPublished' ? 'publication' : 'reading'}-${ID}`, event, {
    revision: BigInt(second),
    metadata: { occurredAt: at(second) },
  });

const ids = { workspaceId: 'ws_1', livemode: true, reservationId: 'r_1' };
const requested = happened(0, { type: 'ReadingRequested', data: REQUEST });
const started = happened(1, {
  type: 'ReadingStarted',
  data: { attempt: 1, workerId: 'w', leaseUntil: at(50) },
});
const attemptFailed = happened(2, {
  type: 'ReadingAttemptFailed',
  data: { attempt: 1, code: 'generation_failed', retryAt: at(4) },
});
const completed = happened(3, {
  type: 'ReadingCompleted',
  data: { ...ids, attempt: 2, sealedResult: 'sealed' },
});
const failed = happened(3, {
  type: 'ReadingFailed',
  data: { ...ids, code: 'generation_failed', attempts: 5 },
});
/** Its documents bear the date of the second before, when rendering started. */
const published = (second: number, version: number) =>
  happened(second, {
    type: 'DocumentPublished',
    data: { version, artifactId: `a${version}`, publishedAt: at(second - 1) },
  });
const erased = happened(9, { type: 'ReadingErased', data: { workspaceId: 'ws_1' } });

const fold = (events: readonly Recorded<Event>[], row: ReadingRow | null = null) =>
  events.reduce(evolveReading, row);

describe('the row of a reading', () => {
  it('is queued when requested, and due again after half a minute', () => {
    expect(fold([requested])).toMatchObject({ status: 'queued', created_at: at(0), due_at: at(30) });
  });

  it('follows its attempts to the end, after which nothing is due', () => {
    expect(fold([requested, started])).toMatchObject({ status: 'processing', due_at: at(50) });
    expect(fold([requested, started, attemptFailed])).toMatchObject({ status: 'queued', due_at: at(34) });
    expect(fold([requested, started, completed])).toMatchObject({
      status: 'completed',
      completed_at: at(3),
      due_at: null,
    });
    expect(fold([requested, started, failed])).toMatchObject({
      status: 'failed',
      failed_at: at(3),
      error_code: 'generation_failed',
      due_at: null,
    });
  });

  it('has the newest publication, and its time as the last change', () => {
    expect(fold([requested, completed, published(5, 2), published(6, 1)])).toMatchObject({
      document_version: 2,
      artifact_id: 'a2',
      published_at: at(4),
      updated_at: at(5),
    });
  });

  it('loses its input when it is erased', () => {
    expect(fold([requested, completed, erased])).toMatchObject({ sealed_input: '', erased_at: at(9) });
  });

  it('is the same whether its publication or its erasure comes first', () => {
    const before = [requested, started, completed];
    for (const second of [5, 12])
      expect(fold([...before, erased, published(second, 1)])).toEqual(
        fold([...before, published(second, 1), erased]),
      );
  });

  it('is the same when every event is repeated, and absent before the request', () => {
    const story = [requested, started, attemptFailed, started, completed, published(5, 1), erased];
    const once = fold(story);
    expect(fold(story, once)).toEqual(once);
    expect(fold(story.slice(1))).toBeNull();
  });
});

it('The row of a batch says that it is open until it has ended', () => {
  const inBatch = (revision: bigint, event: BatchEvent) =>
    recorded(`batch-${ID}`, event, { revision, metadata: { occurredAt: at(0), correlationId: 'req_1' } });
  const of = { workspaceId: 'ws_1', livemode: false, items: 3 };
  const asked = inBatch(0n, {
    type: 'BatchRequested',
    data: { ...of, mode: 'available', refused: [1], invalid: [1] },
  });
  const outcomes = { refused: 1, published: 2, failed: 0, erased: 0, notAccepted: 0 };
  const ended = inBatch(1n, { type: 'BatchEnded', data: { ...of, ...outcomes, endedAt: at(5) } });
  const row = {
    ...{ batch_id: ID, workspace_id: 'ws_1', livemode: false, accepted: 2 },
    ...{ requested_at: at(0), ended_at: null, correlation_id: 'req_1' },
  };
  given(batchProjection, [asked]).thenRows({ 'readings.batch': [row] });
  given(batchProjection, [asked, ended]).thenRows({ 'readings.batch': [{ ...row, ended_at: at(5) }] });
});
