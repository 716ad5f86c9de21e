import { describe, expect, it } from '@jest/globals';
import { printable, printableLines } from './printable.js';

describe('text of strangers', () => {
  const ORDINARY = 'Zoé Łąka-O’Neil · 日本語 עברית العربية 😀 \\ "quoted" e\u0301';

  it.each([
    ['ordinary text of any language', ORDINARY, ORDINARY],
    ['an escape sequence', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['C1 controls and DEL', '\u009b31m\u007f', '\\u009b31m\\u007f'],
    ['a bidi override', 'a\u202egnp.exe', 'a\\u202egnp.exe'],
    ['bidi isolates and marks', '\u2066\u2069\u200e\u061c', '\\u2066\\u2069\\u200e\\u061c'],
    ['zero-width characters', 'a\u200b\u2060\ufeffb', 'a\\u200b\\u2060\\ufeffb'],
    ['line breaks of any kind', 'a\r\n\u0085\u2028\u2029b', 'a\\u000d\\u000a\\u0085\\u2028\\u2029b'],
    ['tag characters', 'a\u{e0041}', 'a\\udb40\\udc41'],
    ['half a surrogate pair', 'a\ud800', 'a\\ud800'],
  ])('shows %s instead of applying it', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps the line breaks of a text of several lines, and JSON means the same afterwards', () => {
    expect(printableLines('a\nb\u001b')).toBe('a\nb\\u001b');
    const value = { label: 'x\u202e\u009b\u200b\u{e0041}\u001b' };
    expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
  });
});
