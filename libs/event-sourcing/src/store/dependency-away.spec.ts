import { describe, expect, it } from '@jest/globals';
import { isDependencyAway, StoreUnavailable, WrongExpectedRevision } from './errors.js';

const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });

describe('isDependencyAway', () => {
  it.each<[string, unknown]>([
    ['an event store that is away', new StoreUnavailable('', false)],
    ['Postgres shutting down', withCode('57P01')],
    ['Postgres starting', withCode('57P03')],
    ['Postgres out of connections', withCode('53300')],
    ['a deadlock', withCode('40P01')],
    ['a lost race between transactions', withCode('40001')],
    ['a refused connection', withCode('ECONNREFUSED')],
    ['a connection that broke in use', new Error('Connection terminated unexpectedly')],
    ['a pool without a free connection in time', new Error('timeout exceeded when trying to connect')],
  ])('is true of %s', (_, error) => expect(isDependencyAway(error)).toBe(true));

  it.each<[string, unknown]>([
    ['a violated constraint', withCode('23505', 'duplicate key value')],
    ['a statement that is wrong', withCode('42601', 'syntax error')],
    ['a division by zero', withCode('22012', 'division by zero')],
    ['a conflict', new WrongExpectedRevision('tally-1', 'no_stream', 0n)],
    ['a bug', new TypeError('undefined is not a function')],
    ['nothing', undefined],
    ['null', null],
    ['a text', 'ECONNREFUSED'],
  ])('is false of %s', (_, error) => expect(isDependencyAway(error)).toBe(false));
});
