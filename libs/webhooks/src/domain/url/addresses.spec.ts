import { describe, expect, it } from '@jest/globals';
import { isReachable, isSameAddress } from './addresses.js';

const EVERYTHING = ['0.0.0.0/0', '::/0'];

describe('An address webhooks may reach', () => {
  it.each(['1.1.1.1', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4007::8'])(
    'is public: %s',
    (address) => expect(isReachable(address, [])).toBe(true),
  );

  it.each([
    ...[
      '0.0.0.0',
      '0.255.255.255',
      '10.0.0.1',
      '100.64.0.1',
      '100.127.255.255',
      '127.0.0.1',
      '127.255.255.254',
    ],
    ...[
      '169.254.0.1',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.0.0.8',
      '192.0.2.1',
      '192.88.99.1',
    ],
    ...[
      '192.168.1.1',
      '198.18.0.1',
      '198.19.255.255',
      '198.51.100.7',
      '203.0.113.9',
      '224.0.0.1',
      '240.0.0.1',
    ],
    ...['255.255.255.255', '100.100.100.200'],
  ])('is not the special-purpose IPv4 %s', (address) => expect(isReachable(address, [])).toBe(false));

  it.each([
    ...[
      '::',
      '::1',
      '::7f00:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'fe80::1',
    ],
    ...[
      'fc00::1',
      'fd00:ec2::254',
      'ff02::1',
      '2001::1',
      '2001:db8::1',
      '3fff::1',
      '4000::1',
      '100::1',
      'fe80::1%eth0',
    ],
  ])('is not the special-purpose IPv6 %s', (address) => expect(isReachable(address, [])).toBe(false));

  it.each(['', 'localhost', '127.1.1', '1.2.3.4.5', 'example.com'])('is an address, unlike "%s"', (text) =>
    expect(isReachable(text, [])).toBe(false),
  );

  it('may be in a range the operator opened, and nowhere else', () => {
    expect(isReachable('127.0.0.1', ['127.0.0.0/8'])).toBe(true);
    expect(isReachable('::ffff:127.0.0.1', ['127.0.0.0/8'])).toBe(true);
    expect(isReachable('10.0.0.1', ['127.0.0.0/8'])).toBe(false);
    expect(isReachable('fd12::1', ['fd12::/16'])).toBe(true);
  });

  it.each([
    ...['169.254.169.254', '100.100.100.200', 'fd00:ec2::254', '::ffff:169.254.169.254'],
    ...['64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', '::a9fe:a9fe'],
  ])('is never the metadata address %s, whatever is opened', (address) =>
    expect(isReachable(address, EVERYTHING)).toBe(false),
  );
});

describe('Two addresses', () => {
  it('are the same however they are written', () => {
    expect(isSameAddress('::ffff:127.0.0.1', '127.0.0.1')).toBe(true);
    expect(isSameAddress('2606:4700:0::1', '2606:4700::1')).toBe(true);
    expect(isSameAddress('127.0.0.1', '127.0.0.2')).toBe(false);
    expect(isSameAddress('127.0.0.1', '')).toBe(false);
  });
});
