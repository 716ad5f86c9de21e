import { describe, expect, it } from '@jest/globals';
import { displayName } from './structured-name.js';

describe('The displayed name', () => {
  it('has its parts in order, with one space between words, whatever the caller sent', () => {
    const name = { firstNames: ['Ada  May', ' Zoé '], middleNames: [], lastNames: ['de\u00a0\u2009Example'] };
    expect(displayName(name)).toBe('Ada May Zoé de Example');
  });
});
