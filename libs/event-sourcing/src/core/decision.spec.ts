import { describe, expect, it } from '@jest/globals';
import { assertNever } from './decider.js';

describe('assertNever', () => {
  it('names the impossible case, without its data', () => {
    const impossible = { type: 'PersonNamed', data: { name: 'Ada' } } as never;
    expect(() => assertNever(impossible)).toThrow(new TypeError('Unhandled case PersonNamed'));
  });
});
