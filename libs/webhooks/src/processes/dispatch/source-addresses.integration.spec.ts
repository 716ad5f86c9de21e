import { describe, expect, it } from '@jest/globals';
import { rawServer, send, senderWith, sending } from '../../../test/sending.js';
import { openSender } from './sender.js';
import type { Config } from '../../settings.js';

const test = sending();

describe('With source addresses', () => {
  it('webhooks come from the address of the receiver’s family, and from no other', async () => {
    const peers: (string | undefined)[] = [];
    const url = await rawServer((socket) => {
      peers.push(socket.remoteAddress);
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'));
    });
    // Linux has all of 127.0.0.0/8.
    expect(await send(senderWith({ sources: ['::1', '127.0.0.2'] }), url)).toMatchObject({ error: null });
    expect(peers).toEqual(['127.0.0.2']);
    expect(await send(senderWith({ sources: ['::1'] }), url)).toMatchObject({ error: 'connect_failed' });
    expect(peers).toHaveLength(1);
  });

  it('a receiver with addresses of both families is reached by the one that has a source, once all are checked', async () => {
    const { port } = test.receiver;
    const reached = (sources: readonly string[], addresses: readonly string[]) =>
      send(
        senderWith({ sources, resolve: async () => addresses, allowCidrs: ['127.0.0.0/8', '::1/128'] }),
        `http://receiver.example:${port}/`,
      );
    expect(await reached(['127.0.0.2'], ['::1', '127.0.0.1'])).toMatchObject({ error: null });
    // Nobody listens at ::1, the first of those that have a source.
    expect(await reached(['127.0.0.2', '::1'], ['::1', '127.0.0.1'])).toMatchObject({
      error: 'connect_failed',
    });
    expect(await reached(['127.0.0.2'], ['::1', '127.0.0.1', '10.0.0.1'])).toMatchObject({
      error: 'dns_failed',
    });
    expect(test.receiver.received).toHaveLength(1);
  });

  it.each([
    [{ WEBHOOK_SOURCE_ADDRESSES: ['203.0.113.7'] }, 'this machine does not have the address 203.0.113.7'],
    [
      { WEBHOOK_SOURCE_ADDRESSES: ['127.0.0.1'], WEBHOOK_PROXY_URL: 'http://proxy.example:3128' },
      'receivers see the address of the proxy',
    ],
  ])('a worker does not start with %j', (settings, reason) => {
    const open = () =>
      openSender({
        config: settings as Config,
        resolve: async () => [],
        clock: { now: () => 0 },
        log: { warn: () => undefined },
      });
    expect(open).toThrow(reason);
  });
});
