import { describe, expect, it, jest } from '@jest/globals';
import { Receiver } from '../../../test/receiver.js';
import { send, senderWith, sending } from '../../../test/sending.js';
import type { ResolveHost } from './sender.js';

const test = sending();

describe('A name', () => {
  it('is resolved once; its address is dialled and the name is only sent', async () => {
    const asked: string[] = [];
    const resolve: ResolveHost = async (name) => {
      asked.push(name);
      return ['127.0.0.1'];
    };
    const result = await send(senderWith({ resolve }), `http://receiver.example:${test.receiver.port}/hook`);
    expect(result).toMatchObject({ error: null });
    expect(asked).toEqual(['receiver.example']);
    expect(test.receiver.received[0]!.headers).toMatchObject({
      host: `receiver.example:${test.receiver.port}`,
    });
  });

  it('that resolves differently the next time is checked again', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const sender = senderWith({ resolve: async () => answers.shift()! });
    const url = `http://receiver.example:${test.receiver.port}/`;
    expect(await send(sender, url)).toMatchObject({ error: null });
    expect(await send(sender, url)).toMatchObject({ error: 'dns_failed' });
  });

  it.each([
    [['127.0.0.1', '10.0.0.1'], 'one private among others'],
    [['169.254.169.254'], 'a metadata address'],
    [['::ffff:10.0.0.1'], 'a mapped address'],
  ])('that leads to %j is not dialled, and the operator is told why: %s', async (addresses) => {
    const told: string[] = [];
    const sender = senderWith({ resolve: async () => addresses, blocked: (host) => told.push(host) });
    expect(await send(sender, `http://receiver.example:${test.receiver.port}/`)).toMatchObject({
      error: 'dns_failed',
    });
    expect(told).toEqual(['receiver.example']);
    expect(test.receiver.sockets.size).toBe(0);
  });

  it('with thousands of addresses is not dialled, and none of them is looked at', async () => {
    const looked = jest.fn(() => '127.0.0.1');
    const many = Array.from({ length: 5_000 });
    const addresses = new Proxy(many, {
      get: (all, key) => (typeof key === 'string' && /^\d+$/.test(key) ? looked() : Reflect.get(all, key)),
    }) as string[];
    const sender = senderWith({ resolve: async () => addresses });
    expect(await send(sender, `http://receiver.example:${test.receiver.port}/`)).toMatchObject({
      error: 'dns_failed',
    });
    expect(looked).not.toHaveBeenCalled();
    expect(test.receiver.sockets.size).toBe(0);
  });

  it('without an address is a separate class of failure, and so is a resolver that hangs', async () => {
    const url = 'http://receiver.example/';
    expect(await send(senderWith({ resolve: async () => [] }), url)).toMatchObject({ error: 'dns_failed' });
    const failing = senderWith({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await send(failing, url)).toMatchObject({ error: 'dns_failed' });
    const hanging = senderWith({ resolve: () => new Promise(() => undefined), exchangeTimeoutMs: 100 });
    expect(await send(hanging, url)).toMatchObject({ error: 'timeout' });
  });
});

describe('An address in the URL', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/',
  ])('is checked at every attempt: %s', async (url) => {
    expect(await send(senderWith({ allowCidrs: [] }), url)).toMatchObject({ error: 'blocked_address' });
  });

  it('of a metadata service is never dialled, whatever is opened', async () => {
    const sender = senderWith({ allowCidrs: ['0.0.0.0/0', '::/0'] });
    expect(await send(sender, 'http://169.254.169.254/')).toMatchObject({ error: 'blocked_address' });
    expect(await send(sender, 'http://[fd00:ec2::254]/')).toMatchObject({ error: 'blocked_address' });
  });

  it('where nobody listens is a failed connection', async () => {
    const { port } = test.receiver;
    await test.receiver.stop();
    expect(await send(senderWith(), `http://127.0.0.1:${port}/`)).toMatchObject({ error: 'connect_failed' });
    test.receiver = await Receiver.start();
  });
});
