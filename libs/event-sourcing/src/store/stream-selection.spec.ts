import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSelected, patternOf } from './stream-selection.js';

const categories = ['credits', 'reading'];
const id = fc.oneof(fc.uuid(), fc.string(), fc.string({ unit: 'grapheme-ascii', maxLength: 3 }));
const stream = fc
  .tuple(fc.constantFrom('credits', 'reading', 'creditsx', 'publication'), id)
  .map(([category, name]) => (name === '' ? category : `${category}-${name}`));

describe('a selection of streams', () => {
  it('has each stream of its categories in exactly one part, and no other stream', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 8 }), (name, of) => {
        const parts = Array.from({ length: of }, (_, index) => ({ categories, part: { index, of } }));
        const owners = parts.filter((part) => isSelected(part, name));
        expect(owners).toHaveLength(/^(credits|reading)(-|$)/.test(name) ? 1 : 0);
        for (const owner of owners) expect(new RegExp(patternOf(owner), 'u').test(name)).toBe(true);
      }),
    );
  });

  it('asks the server for no stream that is not selected, unless its name has line breaks', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 8 }), fc.nat(7), (name, of, index) => {
        const selection = { categories, ...(index < of && { part: { index, of } }) };
        expect(new RegExp(patternOf(selection), 'u').test(name)).toBe(isSelected(selection, name));
      }),
    );
  });

  it('has parts of similar size', () => {
    const names = Array.from({ length: 1_000 }, (_, n) => `credits-ws_${String(n).padStart(22, '0')}`);
    const sizes = [0, 1, 2, 3].map(
      (index) => names.filter((name) => isSelected({ categories, part: { index, of: 4 } }, name)).length,
    );
    expect(Math.max(...sizes)).toBeLessThan(300);
  });
});
