import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from './canonical-json.js';

describe('canonicalJson', () => {
  it('writes numbers, strings and literals as RFC 8785, section 3.2.2 does', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts members by UTF-16 code units, as RFC 8785, section 3.2.3 does', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toHaveLength(7);
    expect(canonicalJson(value)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis",' +
        '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
  });

  it.each([
    [-0, '0'],
    [5e-324, '5e-324'],
    [-1.7976931348623157e308, '-1.7976931348623157e+308'],
    [1e21, '1e+21'],
    [0.000001, '0.000001'],
  ])('writes the number %p as RFC 8785, appendix B does', (number, text) => {
    expect(canonicalJson(number)).toBe(text);
  });

  it.each<[string, unknown]>([
    ['not a number', { n: Number.NaN }],
    ['infinite', [Number.POSITIVE_INFINITY]],
    ['a bigint', { revision: 1n }],
    ['undefined in a list', [undefined]],
    ['a Date, which JSON.stringify would write as a string', { at: new Date(0) }],
    ['a Map', { entries: new Map([['a', 1]]) }],
  ])('refuses values that two writers could serialize differently: %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});
