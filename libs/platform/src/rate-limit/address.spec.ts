import { expect, it } from '@jest/globals';
import type { Request } from 'express';
import { addressKey, clientAddress, fullAddress, fullClientAddress } from './address.js';

it.each([
  ['203.0.113.9', '203.0.113.9', '203.0.113.9'],
  ['203.0.113.9:4711', '203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9', '203.0.113.9'],
  ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9', '203.0.113.9'],
  ['2001:0DB8:0001:0002:0::1', '2001:db8:1:2::/64', '2001:db8:1:2::1'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2::/64', '2001:db8:1:2::1'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64', '2001:db8:1:2::1'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80::1'],
  ['::1', '0:0:0:0::/64', '::1'],
  ...['', 'unknown', '_hidden', 'a'.repeat(10_000), '203.0.113.9, 203.0.113.10', '1.2.3.4.5', ':::'].map(
    (text) => [text, null, null] as const,
  ),
  ...["'; drop", '1', '0x7f.1', `${'0'.repeat(70)}1.2.3.4`, '2001:db8::/64'].map(
    (text) => [text, null, null] as const,
  ),
])('The address %j has the key %s and the spelling %s', (text, key, address) => {
  expect([addressKey(text), fullAddress(text)]).toEqual([key, address]);
});

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['unknown', '10.0.0.1'],
  [undefined, '10.0.0.1'],
])('The address of a caller is what its proxy wrote, if that is one: %s', (ip, address) => {
  const request = { ip, socket: { remoteAddress: '10.0.0.1' } } as Request;
  expect([clientAddress(request), fullClientAddress(request)]).toEqual([address, address]);
  expect(fullClientAddress({ socket: {} } as Request)).toBeNull();
});
