import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { canonicalHeaders, headerFaults } from '../custom-headers.js';

const codes = (headers: Readonly<Record<string, unknown>>) => headerFaults(headers).map(({ code }) => code);

describe('Custom headers', () => {
  it('may carry credentials of the receiver, and anything of its own', () => {
    expect(
      codes({ Authorization: 'Bearer abc', Cookie: 'a=b; c=d', 'X-Tenant': 'eu 1', 'X-Api-Key': '~!' }),
    ).toEqual([]);
  });

  it.each([
    ...[
      'Host',
      'Connection',
      'Transfer-Encoding',
      'Upgrade',
      'TE',
      'Expect',
      'User-Agent',
      'Accept-Encoding',
    ],
    ...['Content-Length', 'content-type', 'X-Service-Signature', 'x-service-notice', 'Webhook-Id'],
    ...['Proxy-Authorization', 'X-Forwarded-For', 'Forwarded'],
  ])('cannot replace %s, however it is written', (name) => {
    expect(codes({ [name]: 'x' })).toEqual(['reserved_name']);
    expect(codes({ [name.toUpperCase()]: 'x' })).toEqual(['reserved_name']);
  });

  it.each([
    ['a name with a space', { 'a b': 'x' }, 'invalid_name'],
    ['an empty name', { '': 'x' }, 'invalid_name'],
    ['a long name', { [`x-${'a'.repeat(63)}`]: 'x' }, 'invalid_name'],
    ['two spellings of one name', { 'X-A': '1', 'x-a': '2' }, 'repeated_name'],
    ['an empty value', { 'x-a': '' }, 'invalid_value'],
    ['a number', { 'x-a': 5 }, 'invalid_value'],
    ['a long value', { 'x-a': 'v'.repeat(1_001) }, 'invalid_value'],
    ['an accent', { 'x-a': 'é' }, 'invalid_value'],
    ['space at the end', { 'x-a': 'a ' }, 'invalid_value'],
  ])('cannot have %s', (_, headers, code) => {
    expect(codes(headers)).toEqual([code]);
  });

  it('are ten at most', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v']));
    expect(codes(many(10))).toEqual([]);
    expect(codes(many(11))).toEqual(['too_many']);
  });

  it('never end a line, nor say what the service says itself, whatever is sent', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string(), { maxKeys: 12 }), (headers) => {
        if (headerFaults(headers).length > 0) return;
        for (const [name, value] of Object.entries(canonicalHeaders(headers))) {
          expect(`${name}: ${value}`).toMatch(/^[^\s:]+: [\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/);
          expect(name).toBe(name.toLowerCase());
          expect(name).not.toMatch(/^(host|connection|content-|x-service-|webhook-|transfer-encoding)/);
        }
      }),
    );
  });

  it('are refused without repeating a value', () => {
    const secret = 'Bearer\nsecret';
    expect(JSON.stringify(headerFaults({ authorization: secret }))).not.toContain('secret');
  });
});
