import { describe, expect, it } from '@jest/globals';
import { StoreDamaged, StoreUnavailable, WrongExpectedRevision } from '#event-sourcing/store/errors.js';
import { KeyNotHeld } from '../crypto/wrapping-keys.js';
import { faultOf } from './fault.js';

const withCode = (code: string | number, message = 'said so') => Object.assign(new Error(message), { code });
const ofCall = (code: string, syscall: string) => Object.assign(withCode(code), { syscall });

describe('the fault of a store', () => {
  it.each<[string, unknown, string, string]>([
    ['a refused connection', ofCall('ECONNREFUSED', 'connect'), 'PostgreSQL', 'absent'],
    ['a database that starts', withCode('57P03'), 'PostgreSQL', 'absent'],
    [
      'a pool that gets no connection',
      new Error('timeout exceeded when trying to connect'),
      'PostgreSQL',
      'absent',
    ],
    ['a wrong password', withCode('28P01'), 'PostgreSQL', 'refused'],
    ['a dropped table', withCode('42P01'), 'PostgreSQL', 'table_missing'],
    ['a damaged page', withCode('XX001'), 'PostgreSQL', 'damaged'],
    ['a server that is too old', withCode('08V01'), 'PostgreSQL', 'unsupported'],
    ['the database of another installation', withCode('08V02'), 'PostgreSQL', 'other_installation'],
    ['a standby', withCode('25006'), 'PostgreSQL', 'read_only'],
    ['a full disk', withCode('53100'), 'PostgreSQL', 'disk_full'],
    ['too many connections', withCode('53300'), 'PostgreSQL', 'overloaded'],
    ['an absent event store', new StoreUnavailable('not reachable', false), 'the event store', 'absent'],
    [
      'an event store with a full disk',
      new StoreUnavailable('not reachable', true, {
        cause: new Error('The disk of the event store is full: appends are refused.'),
      }),
      'the event store',
      'disk_full',
    ],
    ['an event store that refuses the login', withCode(16), 'the event store', 'refused'],
    ['a damaged event store', new StoreDamaged('record 7 is damaged'), 'the event store', 'damaged'],
  ])('%s', (_, error, where, kind) => {
    const { message } = error as Error;
    expect(faultOf(error)).toMatchObject({ where, kind, message: expect.stringContaining(where) });
    if (!(error instanceof Error && error.cause)) expect(faultOf(error)!.message).toContain(message);
  });

  it('a key that this process lacks is no fault of the event store', () => {
    const fault = faultOf(new KeyNotHeld('No key with the id k2'))!;
    expect(fault).toMatchObject({ where: 'the keeper of keys', kind: 'absent' });
    expect(fault.message).toBe('a key cannot be used now (No key with the id k2)');
    expect(fault.advice).toContain('ENCRYPTION_KEYS');
  });

  it.each<[string, unknown]>([
    ['a conflict', new WrongExpectedRevision('tally-1', 'no_stream', 0n)],
    ['a violated constraint', withCode('23505')],
    ['a missing file', ofCall('ENOENT', 'open')],
    ['a bug', new TypeError('undefined is not a function')],
  ])('is none of %s', (_, error) => expect(faultOf(error)).toBeNull());
});
