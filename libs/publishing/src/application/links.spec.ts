import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { SECRET_BYTES, hashOfToken, makeToken } from './links.js';

const random = Buffer.from(Array.from({ length: SECRET_BYTES }, (_, index) => index * 9));

describe('the token of a link', () => {
  it('has 208 random bits in 40 characters of a path, and one hash', () => {
    const { token, hash } = makeToken(random);
    expect(token).toMatch(/^[\w-]{40}$/);
    expect(SECRET_BYTES * 8).toBeGreaterThanOrEqual(128);
    expect(hashOfToken(token)).toBe(hash);
    expect(hash).toBe(createHash('sha256').update(Buffer.from(token, 'base64url')).digest('hex'));
    expect(hash).not.toContain(random.toString('hex'));
    expect(makeToken(random.map((byte) => byte ^ 1)).hash).not.toBe(hash);
  });

  it('with any one character changed is recognised as wrong without a query', () => {
    const { token } = makeToken(random);
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A';
      expect(hashOfToken(token.slice(0, at) + other + token.slice(at + 1))).toBeNull();
    }
    for (const wrong of ['', token.slice(1), `${token}A`, `${token.slice(1)}=`, ' '.repeat(40)])
      expect(hashOfToken(wrong)).toBeNull();
  });
});
