import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSelected } from './stream-selection.js';

const selection = { categories: ['credits', 'reading'] };
const id = fc.oneof(fc.uuid(), fc.string(), fc.string({ unit: 'grapheme-ascii', maxLength: 3 }));
const stream = fc
  .tuple(fc.constantFrom('credits', 'reading', 'creditsx', 'publication'), id)
  .map(([category, name]) => (name === '' ? category : `${category}-${name}`));

describe('a selection of streams', () => {
  it('has the streams of its categories, and no other', () => {
    fc.assert(
      fc.property(stream, (name) => {
        expect(isSelected(selection, name)).toBe(/^(credits|reading)(-|$)/.test(name));
      }),
    );
  });
});
