import { describe, expect, it } from '@jest/globals';
import { StoreDamaged, StoreUnavailable } from '@app/event-sourcing/store/errors.js';
import { faultOf } from '@app/platform/fault/fault.js';
import { receivedError, sentError } from './messages.js';

const sent = (error: unknown): Error => receivedError(structuredClone(sentError(error)));

describe('an error that a thread met', () => {
  it.each([
    new StoreUnavailable('no answer', true, { cause: new Error('the disk of the store is full') }),
    new StoreUnavailable('no answer', false),
    new StoreDamaged('record 7'),
    Object.assign(new Error('access denied'), { type: 'access-denied' }),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
    new Error('a bug'),
  ])('is the same fault for its caller: %s', (error) => {
    const received = sent(error);
    expect(received.message).toBe(error.message);
    expect(faultOf(received)).toEqual(faultOf(error));
    expect(received).toBeInstanceOf(error.constructor);
  });

  it('keeps that an outcome is unknown', () => {
    expect(sent(new StoreUnavailable('no answer', true))).toMatchObject({ outcomeUnknown: true });
  });

  it('may be anything that was thrown', () => {
    expect(sent('text')).toEqual(new Error('text'));
  });
});
