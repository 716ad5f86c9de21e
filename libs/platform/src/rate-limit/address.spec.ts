import { describe, expect, it } from '@jest/globals';
import { addressKey, clientAddress, fullAddress, fullClientAddress } from './address.js';

const from = (peer: string, forwardedFor?: string) => ({
  socket: { remoteAddress: peer },
  headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
});

describe('The key of an address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    [' 203.0.113.9 ', '203.0.113.9'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:CB00:7109', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('of %j is %s', (text, key) => expect(addressKey(text)).toBe(key));

  it.each(['', 'unknown', '_hidden', 'a'.repeat(10_000), '203.0.113.9, 203.0.113.10', '1.2.3.4.5', ':::'])(
    'is missing for text that is not an address: %j',
    (text) => expect(addressKey(text)).toBeNull(),
  );
});

describe('A full address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['2001:db8::1%eth0', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
  ])('%j has the spelling %s', (text, address) => expect(fullAddress(text)).toBe(address));

  it.each(['', 'unknown', "'; drop", '1', '0x7f.1', `${'0'.repeat(70)}1.2.3.4`, '2001:db8::/64'])(
    'is not %j',
    (text) => expect(fullAddress(text)).toBeNull(),
  );

  it('of a caller comes from the same place as its key', () => {
    const peer = '10.0.0.1';
    expect(fullClientAddress(from(peer, 'unknown, [2001:db8::1]:80'), 1)).toBe('2001:db8::1');
    expect(fullClientAddress(from(peer, 'unknown'), 1)).toBe(peer);
    expect(fullClientAddress(from(peer, '203.0.113.9'), 0)).toBe(peer);
    expect(fullClientAddress(from(''), 0)).toBeNull();
  });
});

describe('The address of a caller', () => {
  const peer = '10.0.0.1';

  it.each<[string, string | undefined, number, string]>([
    ['is that of the peer without proxies', '203.0.113.9', 0, peer],
    ['is that of the peer when the proxy names no address', undefined, 1, peer],
    ['is what the proxy wrote', '203.0.113.9', 1, '203.0.113.9'],
    ['is not what the caller wrote before the proxy’s entry', '192.0.2.1, 203.0.113.9', 1, '203.0.113.9'],
    ['is what the outermost of two wrote', '192.0.2.1, 203.0.113.9, 10.0.0.2', 2, '203.0.113.9'],
    ['is the nearest address when the chain is shorter', '203.0.113.9', 2, '203.0.113.9'],
    ['is that of the peer when the text is not an address', 'unknown', 1, peer],
  ])('%s', (_, forwardedFor, proxies, address) =>
    expect(clientAddress(from(peer, forwardedFor), proxies)).toBe(address),
  );
});
