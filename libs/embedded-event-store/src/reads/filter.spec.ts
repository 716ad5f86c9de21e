import { describe, expect, it } from '@jest/globals';
import { encodeRecord, StoredRecord } from '../log/record.js';
import { compileFilter, UnsupportedFilterError } from './filter.js';

const recordOf = (stream: string, type: string): StoredRecord => {
  const event = {
    id: '6f1c0f0e-0b7e-4b0e-9d0b-0f6d6f1c0f0e',
    type,
    contentType: 'application/json',
    data: Buffer.from('{}'),
    metadata: Buffer.alloc(0),
  };
  return StoredRecord.from(encodeRecord(event, { stream, revision: 0n, position: 64n, createdAt: 0 }), 64n);
};

const matches = (on: 'stream' | 'type', regex: string, text: string): boolean =>
  compileFilter({ on, regex, prefixes: [] })(on === 'stream' ? recordOf(text, 'T') : recordOf('s', text));

describe('compileFilter', () => {
  it('matches anywhere in the name unless the pattern is anchored', () => {
    expect(matches('stream', 'ing-', 'reading-1')).toBe(true);
    expect(matches('stream', '^ing-', 'reading-1')).toBe(false);
    expect(matches('type', '^[^$].*', '$metadata')).toBe(false);
    expect(matches('type', '^[^$].*', 'Opened')).toBe(true);
  });

  it('treats a character beyond the basic plane as one', () => {
    expect(matches('type', '^.$', '𝒳')).toBe(true);
    expect(matches('type', '^\\p{Lu}', 'Éclair')).toBe(true);
  });

  it('matches several prefixes literally', () => {
    const filter = compileFilter({ on: 'stream', regex: '', prefixes: ['a.', 'b-'] });
    expect([recordOf('a.1', 'T'), recordOf('ab1', 'T'), recordOf('b-1', 'T')].map(filter)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it.each([
    '(',
    '\\Astart',
    '(?i)x',
    '(?>a)',
    '[a-z-[aeiou]]',
    '(a+)+',
    '(a|aa)*',
    '(x{1,5})*',
    '(a)\\1',
    'x'.repeat(1_001),
  ])('refuses %j with an explanation', (regex) => {
    expect(() => compileFilter({ on: 'type', regex, prefixes: [] })).toThrow(UnsupportedFilterError);
  });

  it.each(['^(reading|credits)-', '^(?:a|b)?c+$', 'a{2,3}', '(?<kind>ab)+', '^[^$].*'])(
    'accepts %j',
    (regex) => {
      expect(() => compileFilter({ on: 'type', regex, prefixes: [] })).not.toThrow();
    },
  );
});
