import { describe, expect, it } from '@jest/globals';
import { isWithin, networkText, readNetwork, type Network } from './networks.js';

const network = (text: string): Network => {
  const read = readNetwork(text);
  if (!read) throw new TypeError(`${text} is no network`);
  return read;
};

describe('a network', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['2001:DB8:0:0::/64', '2001:db8::/64'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
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
    ['::ffff:203.0.113.7', ['203.0.113.0/24'], true],
    ['203.0.113.7', ['::ffff:203.0.113.0/120'], true],
    ['203.0.113.7', ['::/0'], false],
    ['2001:db8::1', ['10.0.0.0/8', '2001:db8::/32'], true],
    ['', ['0.0.0.0/0', '::/0'], false],
    ['203.0.113.7', [], false],
  ])('%s within %j: %s', (address, networks, expected) => {
    expect(isWithin(address, networks.map(network))).toBe(expected);
  });
});
