import { describe, expect, it } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import {
  AppendTooLarge,
  StoreDamaged,
  StoreUnavailable,
  WrongExpectedRevision,
  classify,
  isDependencyAway,
} from './errors.js';

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
    ['a server that stops', { type: 'unknown', code: 2, message: '' }],
    ['a server that stops, as the embedded one was', { type: 'cancelled', code: 1, message: '' }],
    ['a raw UNKNOWN', { code: 2, message: 'Stream removed' }],
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

const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });

describe('isDependencyAway', () => {
  it.each<[string, unknown]>([
    ['an event store that is away', new StoreUnavailable('', false)],
    ['Postgres shutting down', withCode('57P01')],
    ['Postgres out of connections', withCode('53300')],
    ['a deadlock', withCode('40P01')],
    ['a refused connection', withCode('ECONNREFUSED')],
    ['a connection that broke in use', new Error('Connection terminated unexpectedly')],
    ['a pool without a free connection in time', new Error('timeout exceeded when trying to connect')],
  ])('is true of %s', (_, error) => expect(isDependencyAway(error)).toBe(true));

  it.each<[string, unknown]>([
    ['a violated constraint', withCode('23505', 'duplicate key value')],
    ['a conflict', new WrongExpectedRevision('tally-1', 'no_stream', 0n)],
    ['a bug', new TypeError('undefined is not a function')],
    ['null', null],
    ['a text', 'ECONNREFUSED'],
  ])('is false of %s', (_, error) => expect(isDependencyAway(error)).toBe(false));
});
