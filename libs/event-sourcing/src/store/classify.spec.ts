import { describe, expect, it } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import { classify, AppendTooLarge, StoreDamaged, isDependencyAway } from './errors.js';

describe('an error of the event store’s client', () => {
  it('that reports data loss is damage, named as the server names it, and no outage', () => {
    const said = 'The data file /data/data.mdb is damaged: the record at position 64.';
    const error = classify({ type: 'unknown', code: 15, message: 'unknown', _raw: { details: said } }, false);
    expect(error).toBeInstanceOf(StoreDamaged);
    expect((error as Error).message).toBe(said);
    expect(isDependencyAway(error)).toBe(false);
  });

  it('that reports a tombstone is a stream that nobody can read', () => {
    const error = classify({ type: 'stream-deleted', streamName: 'tally-1', message: '' }, false);
    expect(error).toBeInstanceOf(CorruptEvent);
    expect((error as Error).message).toMatch(/^tally-1@0 .* tombstone/);
  });

  it.each([
    ['a commit timeout', { type: 'deadline-exceeded', code: 4, message: '' }],
    ['a commit timeout of a single append', { type: 'timeout', code: 10, message: '' }],
    ['a server that stops', { type: 'unknown', code: 2, message: '' }],
    ['a server that stops, or is gone', { type: 'unavailable', code: 14, message: '' }],
    ['a server that stops, as the embedded one was', { type: 'cancelled', code: 1, message: '' }],
    ['a raw UNKNOWN', { code: 2, message: 'Stream removed' }],
    ['a raw ABORTED', { code: 10, message: '' }],
    ['a raw INTERNAL', { code: 13, message: 'RST_STREAM' }],
    ['a raw UNAVAILABLE', { code: 14, message: '' }],
  ])('that comes of %s leaves the outcome of an append unknown', (_, error) => {
    expect(classify(error, true)).toMatchObject({ name: 'StoreUnavailable', outcomeUnknown: true });
    expect(classify(error, false)).toMatchObject({ name: 'StoreUnavailable', outcomeUnknown: false });
  });

  it.each([
    [
      'an append',
      { type: 'maximum-append-size-exceeded', code: 3, message: 'Maximum Append Size of 9 Exceeded' },
    ],
    [
      'one event, as KurrentDB 26 says it',
      { type: 'unknown', message: 'Could not recognize Maximum Append Event Size of 9 Exceeded' },
    ],
    [
      'one event, by the name of its message',
      { type: 'unknown', message: 'Could not recognize MaximumAppendEventSizeExceeded' },
    ],
  ])('about the size of %s is no outage: no retry helps', (_, error) => {
    const classified = classify(error, true);
    expect(classified).toBeInstanceOf(AppendTooLarge);
    expect(isDependencyAway(classified)).toBe(false);
  });
});
