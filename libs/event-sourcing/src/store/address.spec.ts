import { expect, it } from '@jest/globals';
import { hostOf, readAddress } from './address.js';

it.each([
  ['esdb://one:2113?tls=false', ['one:2113'], false, false],
  ['esdb://user:p%40ss@one', ['one:2113'], false, true],
  ['esdb://a:1,b:2,[::1]:3?TLS=False', ['a:1', 'b:2', '[::1]:3'], true, false],
  ['esdb+discover://user:word@cluster.example:2113/?tls=true', ['cluster.example:2113'], true, true],
])('%s names its nodes, whether they are a cluster, and TLS', (url, nodes, isCluster, usesTls) => {
  expect(readAddress(url)).toMatchObject({ nodes, isCluster, usesTls });
});

it('The credentials have TLS unless the address says otherwise', () => {
  expect(readAddress('esdb://one').credentials()._isSecure()).toBe(true);
  expect(readAddress('esdb://one?tls=false').credentials()._isSecure()).toBe(false);
  expect(() => readAddress('esdb://one?tlsCAFile=/missing').credentials()).toThrow('ENOENT');
});

it('A host has no port and no brackets', () => {
  expect(['one:2113', '[::1]:2113'].map(hostOf)).toEqual(['one', '::1']);
});
