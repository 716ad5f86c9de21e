import { describe, expect, it } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import { StoreDamaged, isEventsFault } from '../store/errors.js';

const postgres = (code: string) => Object.assign(new Error('no'), { severity: 'ERROR', code });
const store = (details: object) => Object.assign(new Error('no'), details);

describe('an event may be at fault', () => {
  it.each([
    ['it cannot be read', new CorruptEvent({ stream: 'a-1', revision: 0n, type: 'A' }, 'no')],
    ['its handler throws', new RangeError('no')],
    ['its values break a constraint', postgres('23505')],
    ['its values cannot be computed with', postgres('22012')],
  ])('when %s', (_, error) => expect(isEventsFault(error)).toBe(true));

  it.each([
    ['a table is missing', postgres('42P01')],
    ['the event store is damaged', new StoreDamaged('record 7')],
    ['the event store denies access', store({ type: 'access-denied' })],
    ['a call of the event store is not permitted', store({ code: 7 })],
    ['the event store does not know the login', store({ code: 16 })],
  ])('but not when %s', (_, error) => expect(isEventsFault(error)).toBe(false));
});
