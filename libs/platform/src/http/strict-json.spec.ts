import { describe, expect, it } from '@jest/globals';
import type { Problem } from './problem.js';
import { parseStrictJson } from './strict-json.js';

const parse = (text: string) => parseStrictJson(Buffer.from(text));
const refusal = (body: Uint8Array): Problem => {
  try {
    parseStrictJson(body);
  } catch (error) {
    return error as Problem;
  }
  throw new Error('It was accepted');
};
const refusalOf = (text: string) => refusal(Buffer.from(text));
/** So many members, each with a name of its own. */
const unlike = (count: number) => Array.from({ length: count }, (_, n) => `"${n}":1`).join();
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('parseStrictJson', () => {
  it('reads JSON as JSON.parse does', () => {
    expect(parse(' {"a":[1,{"b":null}],"é":"\\u00e9"} ')).toEqual({ a: [1, { b: null }], é: 'é' });
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
    expect(parse('"text"')).toBe('text');
  });

  it.each(['', '{"a":1,}', '{"a":1}{}'])('refuses %p as malformed', (text) => {
    expect(refusalOf(text)).toMatchObject({ code: 'malformed_json', status: 400 });
  });

  it('refuses bytes that are not UTF-8', () => {
    const latin1 = Buffer.from('{"name":"é"}', 'latin1');
    expect(refusal(latin1).code).toBe('malformed_json');
    expect(refusal(Buffer.from('{"a":1}', 'utf16le')).code).toBe('malformed_json');
  });

  it('points at every member that appears twice, at any depth', () => {
    const problem = refusalOf('{"a":1,"b":[{"c":1},{"c":1,"c/d~":2,"x":{},"c/d~":3}],"a":2,"a":3}');
    expect([problem.code, problem.options.detail]).toEqual(['validation_failed', '2 fields are invalid']);
    expect(problem.options.errors?.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/b/1/c~1d~0', 'duplicate_member'],
      ['/a', 'duplicate_member'],
    ]);
  });

  it('tells one error for one cause, the first hundred of them, and counts the others', () => {
    const twice = refusalOf(`{${Array.from({ length: 99_000 }, () => '"a":1').join()}}`);
    expect(twice.options).toMatchObject({ detail: '1 field is invalid', errors: [{ pointer: '/a' }] });
    const { options } = refusalOf(`[${Array.from({ length: 2_000 }, () => '{"a":1,"a":1}').join()}]`);
    expect(options).toMatchObject({ detail: '2000 fields are invalid', errorsOmitted: 1_900 });
    expect(options.errors).toHaveLength(100);
  });

  it('repeats no more than 200 characters of a pointer, however long the names are', () => {
    const pointerOf = (name: string) => refusalOf(`{"${name}":{"a":[1e999]}}`).options.errors![0]!.pointer;
    expect(pointerOf('~'.repeat(500))).toBe(`/${'~0'.repeat(99)}…`);
    // Half of a surrogate pair is no text.
    expect(pointerOf(`${'n'.repeat(197)}😀`)).toBe(`/${'n'.repeat(197)}\ufffd…`);
  });

  it.each([
    ['an object of 51 members', `{"a":[{${unlike(51)}}]}`, '/a/0', 'must have at most 50 members'],
    ['more than 100,000 values', `[${'1,'.repeat(99_999)}1]`, '', 'must have at most 100000 values'],
    ['as many empty arrays', `[${'[],'.repeat(99_999)}{}]`, '', 'must have at most 100000 values'],
  ])('refuses %s', (_, text, pointer, detail) => {
    const { code, options } = refusalOf(text);
    expect([code, options.errors]).toEqual(['validation_failed', [{ pointer, code: 'too_many', detail }]]);
  });

  it('reads an object of 50 members, and 100,000 values', () => {
    expect(Object.keys(parse(`{${unlike(50)}}`) as object)).toHaveLength(50);
    expect(parse(`[${'1,'.repeat(99_998)}1]`)).toHaveLength(99_999);
  });

  it.each([
    ['{"a":["b","c\\u0000"]}', '/a/1'],
    ['{"a":{"b":"\\ud800x"}}', '/a/b'],
    ['{"a":"\\udc00\\ud800"}', '/a'],
    ['{"a":{"b\\u0000":1}}', '/a'],
    ['"\\u0000"', ''],
  ])('refuses text in %s that no database can store', (text, pointer) => {
    const { code, options } = refusalOf(text);
    expect([code, options.errors]).toEqual([
      'validation_failed',
      [{ pointer, code: 'invalid_character', detail: 'must not hold U+0000 or half of a surrogate pair' }],
    ]);
  });

  it.each(['{"a":[1e999]}', '{"a":[-1e999]}'])('refuses the number in %s, which is infinite', (text) => {
    expect(refusalOf(text).options.errors).toEqual([
      { pointer: '/a/0', code: 'invalid_value', detail: 'is too large a number' },
    ]);
  });

  it('detects a duplicate spelt with escapes', () => {
    expect(refusalOf('{"a":1,"\\u0061":2}').options.errors).toMatchObject([{ pointer: '/a' }]);
  });

  it('allows eight levels, and refuses the ninth and as many as the largest body allows', () => {
    const objects = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
    expect([parse(nested(8)), parse(objects(8))]).not.toContain(undefined);
    for (const text of [nested(9), objects(9), nested(8_192)])
      expect(refusalOf(text).options.errors).toMatchObject([{ code: 'too_deep' }]);
  });

  it.each([
    ['{"a":{"__proto__":{"isAdmin":true}}}', '/a/__proto__', 'unknown_field'],
    ['{"readings":[{"metadata":{"constructor":"x"}}]}', '/readings/0/metadata/constructor', 'invalid_key'],
  ])('refuses %s, which a mapper would drop silently', (text, pointer, code) => {
    expect(refusalOf(text).options.errors).toMatchObject([{ pointer, code }]);
  });
});
