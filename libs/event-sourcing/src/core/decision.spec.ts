import { describe, expect, it } from '@jest/globals';
import { assertNever } from './decision.js';

describe('assertNever', () => {
  it('names the case that should have been impossible, and nothing of its data', () => {
    const impossible = { type: 'PersonNamed', data: { name: 'Ada' } } as never;
    expect(() => assertNever(impossible)).toThrow(new TypeError('Unhandled case PersonNamed'));
  });
});
