import { describe, expect, it } from '@jest/globals';
import { normalAddress, senderOf } from './address.js';

describe('the address of a caller', () => {
  it('has one spelling', () => {
    expect(['203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107'].map(normalAddress)).toEqual(
      Array(3).fill('203.0.113.7'),
    );
    expect(['2001:DB8:0::1', '2001:db8::1%eth0'].map(normalAddress)).toEqual(Array(2).fill('2001:db8::1'));
    expect([undefined, '', 'unknown', "'; drop"].map(normalAddress)).toEqual(Array(4).fill(null));
  });

  it('is that of a network of 64 bits where a sender may choose among its addresses', () => {
    expect(senderOf('2001:db8::1:2:3:4')).toBe('2001:db8::/64');
    expect(senderOf('203.0.113.7')).toBe('203.0.113.7');
    expect(senderOf(null)).toBeNull();
  });
});
