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

it('A login may contain what an address is made of', () => {
  expect(readAddress('esdb://us%40er:p%3A%2Fss:word@one').login).toEqual({
    username: 'us@er',
    password: 'p:/ss:word',
  });
  expect(readAddress('esdb://one').login).toBeUndefined();
});

it('Files are read when they are needed, and must exist', () => {
  expect(() => readAddress('esdb://one?tlsCAFile=/missing').tls()).toThrow('ENOENT');
});

it('A host has no port and no brackets', () => {
  expect(['one:2113', '[::1]:2113'].map(hostOf)).toEqual(['one', '::1']);
});
