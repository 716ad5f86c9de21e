import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { areWithin, isWithin, networkText, readNetwork, type Network } from './networks.js';

const network = (text: string): Network => {
  const read = readNetwork(text);
  if (!read) throw new TypeError(`${text} is no network`);
  return read;
};

describe('a network', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.7/32', '203.0.113.7/32'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['2001:DB8:0:0::/64', '2001:db8::/64'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['::/0', '::/0'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
    ['::ffff:203.0.113.7', '203.0.113.7/32'],
    ['::ffff:cb00:7100/120', '203.0.113.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
  ])('%s is stored as %s', (text, stored) => {
    expect(networkText(network(text))).toBe(stored);
    expect(networkText(network(stored))).toBe(stored);
  });

  it.each([
    ...['', 'office.example', '203.0.113.7/24', '2001:db8::1/64', '203.0.113.0/33', '2001:db8::/129'],
    ...['203.0.113.0/-1', '203.0.113.0/024', '203.0.113.0/', '203.0.113.0/255.255.255.0', '010.0.0.1'],
    ...['0x7f.0.0.1', '10.1/16', '3405803776', '203.0.113.256', 'fe80::1%eth0', '203.0.113.7:443'],
    ...['10.0.0.0/8,192.168.0.0/16', '10.0.0.0/8 ', '10.0.0.0/8\n', '10.0.0.*', '1:2:3:4:5:6:7:8:9/64'],
  ])('is not %j', (text) => {
    expect(readNetwork(text)).toBeNull();
  });

  it.each([
    ['203.0.113.255', ['203.0.113.0/24'], true],
    ['203.0.114.0', ['203.0.113.0/24'], false],
    ['203.0.113.7', ['203.0.113.7'], true],
    ['203.0.113.8', ['203.0.113.7'], false],
    ['::ffff:203.0.113.7', ['203.0.113.0/24'], true],
    ['203.0.113.7', ['::ffff:203.0.113.0/120'], true],
    ['203.0.113.7', ['::/0'], false],
    ['2001:db8::1', ['0.0.0.0/0'], false],
    ['2001:db8::1', ['10.0.0.0/8', '2001:db8::/32'], true],
    ['2001:db9::1', ['2001:db8::/32'], false],
    ['nonsense', ['0.0.0.0/0', '::/0'], false],
    ['', ['0.0.0.0/0', '::/0'], false],
    ['203.0.113.7', [], false],
  ])('%s within %j: %s', (address, networks, expected) => {
    expect(isWithin(address, networks.map(network))).toBe(expected);
  });

  it('within others has no address outside them', () => {
    const v4 = fc
      .tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 32 }))
      .map(([bits, prefix]) => {
        const first = prefix === 0 ? 0 : (bits & (-1 << (32 - prefix))) >>> 0;
        return {
          text: `${[24, 16, 8, 0].map((by) => (first >>> by) & 255).join('.')}/${prefix}`,
          first,
          prefix,
        };
      });
    fc.assert(
      fc.property(v4, v4, ({ text, first, prefix }, outer) => {
        const last = prefix === 32 ? first : first + 2 ** (32 - prefix) - 1;
        const ends = [first, last].map((end) => [24, 16, 8, 0].map((by) => (end >>> by) & 255).join('.'));
        const isInside = ends.every((end) => isWithin(end, [network(outer.text)]));
        expect(areWithin([network(text)], [network(outer.text)])).toBe(isInside);
      }),
    );
  });
});
