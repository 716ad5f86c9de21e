import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { RANDOM_BYTES, apiKeyText, base62, isHashOf, makeApiKey, parseApiKey } from './api-key.js';

const make = (mode: 'live' | 'test' = 'live') => {
  const key = makeApiKey({ id: randomBytes(RANDOM_BYTES), secret: randomBytes(RANDOM_BYTES) });
  return { ...key, apiKey: apiKeyText(mode, key) };
};

describe('an API key', () => {
  it.each(['live', 'test'] as const)('of the mode %s has the published shape and a stored hash', (mode) => {
    const { apiKey, keyId, hash } = make(mode);
    expect(apiKey).toMatch(new RegExp(`^ek_${mode}_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$`));
    const parsed = parseApiKey(apiKey)!;
    expect(parsed).toMatchObject({ mode, keyId });
    expect(isHashOf(hash, parsed)).toBe(true);
    expect(isHashOf(hash, parseApiKey(make(mode).apiKey)!)).toBe(false);
  });

  it('is refused when any one character is changed', () => {
    const { apiKey } = make();
    for (let index = 0; index < apiKey.length; index += 1) {
      const other = apiKey[index] === 'a' ? 'b' : 'a';
      expect(parseApiKey(apiKey.slice(0, index) + other + apiKey.slice(index + 1))).toBeNull();
    }
  });

  it('is refused when cut, padded or empty', () => {
    const { apiKey } = make();
    for (const text of ['', apiKey.slice(1), `${apiKey}a`, ` ${apiKey}`, `${apiKey}\n`]) {
      expect(parseApiKey(text)).toBeNull();
    }
  });

  it('is drawn without bias: random bytes that would favour some characters are skipped', () => {
    expect(base62(Uint8Array.from([255, 248, 0, 61, 62]), 3)).toBe('0z0');
    expect(() => base62(Uint8Array.from([255, 255]), 1)).toThrow(RangeError);
  });
});
