import { describe, expect, it, jest, afterEach, beforeEach } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { eventually, status, Receiver } from '../../../test/receiver.js';
import {
  type SenderOptions,
  listen,
  rawServer,
  send,
  senderWith,
  sending,
  PATIENCE_MS,
} from '../../../test/sending.js';
import { type ResolveHost, openSender, type Sender } from './sender.js';
import type { Config } from '../../settings.js';
import { makeCertificate } from '../../../test/certificate.js';
import { Proxy } from '../../../test/proxy.js';
import { egressProxy } from './connections.js';

const test = sending();

describe('An attempt', () => {
  it('succeeds on 2xx', async () => {
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({ error: null, statusCode: 204 });
    expect(test.receiver.received).toMatchObject([
      { path: '/hook', headers: { 'accept-encoding': 'identity' } },
    ]);
  });

  it('does not follow a redirect', async () => {
    test.receiver.answer = status(302, { location: 'http://169.254.169.254/latest/meta-data' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'redirect_not_followed',
      statusCode: 302,
    });
    expect(test.receiver.received).toHaveLength(1);
  });

  it('reads Retry-After of 429 and 503 alone', async () => {
    test.receiver.answer = status(503, { 'retry-after': '120' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: 120_000,
    });
    test.receiver.answer = status(500, { 'retry-after': '120' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: null,
    });
  });

  it('keeps a connection for the next, but shares none between endpoints', async () => {
    const sender = senderWith();
    await send(sender, test.receiver.url);
    await new Promise((resolve) => setImmediate(resolve));
    await send(sender, test.receiver.url);
    expect(test.receiver.sockets.size).toBe(1);
    await send(sender, test.receiver.url, 'we_b');
    expect(test.receiver.sockets.size).toBe(2);
  });

  it('ignores proxy variables', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:1',
      http_proxy: 'http://127.0.0.1:1',
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      expect(await send(senderWith(), test.receiver.url)).toMatchObject({ error: null });
    } finally {
      process.env = before;
    }
  });

  it('ends without a result when it is cancelled', async () => {
    test.receiver.answer = () => undefined;
    const sender = senderWith();
    const sent = send(sender, test.receiver.url);
    await eventually(() => test.receiver.received.length === 1);
    sender.cancel();
    expect(await sent).toBe('cancelled');
  });
});

describe('A receiver', () => {
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc';
  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

  /** Answers each request with these bytes. @returns the requests of each connection */
  const answering = async (answer: string, closes: boolean) => {
    const requests: number[] = [];
    const url = await rawServer((socket) => {
      const connection = requests.push(0) - 1;
      socket.on('data', (chunk) => {
        // Nothing can be answered on a connection that it has ended.
        if (!chunk.includes('{}') || !socket.writable) return;
        requests[connection]! += 1;
        socket.write(answer, 'latin1');
        if (closes) socket.end();
      });
    });
    return { url, requests };
  };

  it.each([
    ['several and unknown interim responses first', `${CONTINUE}${CONTINUE}HTTP/1.1 199 Busy\r\n\r\n${OK}`],
    ['an unknown 2xx', 'HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n'],
    [
      'an offer to upgrade',
      `HTTP/1.1 200 OK\r\nupgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 0\r\n\r\n`,
    ],
    [
      'chunks with extensions and trailers',
      `${CHUNKED}trailer: x-a\r\n\r\n3;a=b\r\nabc\r\n00\r\nx-a: b\r\n\r\n`,
    ],
  ])('that answers with %s has got each webhook once, on one connection', async (_, answer) => {
    const { url, requests } = await answering(answer, false);
    const sender = senderWith();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await send(sender, url)).toMatchObject({
        error: null,
        statusCode: Number(/ (2\d\d) /.exec(answer)![1]),
      });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(requests).toEqual([2]);
  });

  it.each([
    ['100 and no length', `${CONTINUE}HTTP/1.1 200 OK\r\n\r\nabc`],
    ['Connection: close', `${CONTINUE}HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n`],
  ])('that answers with %s and closes has got each webhook once', async (_, answer) => {
    const { url, requests } = await answering(answer, true);
    const sender = senderWith();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await send(sender, url)).toMatchObject({ error: null });
    expect(requests).toEqual([1, 1]);
  });

  it('may answer before it has read the request', async () => {
    const url = await rawServer((socket) => {
      socket.once('readable', () => socket.write(OK, () => socket.resume().end()));
    });
    expect(await send(senderWith(), url)).toMatchObject({ error: null, statusCode: 200 });
  });

  it.each([
    ['connection_lost', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc'],
    ['connection_lost', `${CHUNKED}\r\n3\r\nabc\r\n`],
    ['connection_lost', CONTINUE],
    ['http_error', `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n${OK}`],
    ['http_error', `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`],
  ])('has not got it when the response ends early or is for another protocol: %s', async (error, answer) => {
    const { url } = await answering(answer, true);
    expect(await send(senderWith(), url)).toMatchObject({ error });
  });
});

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
    const addresses = new globalThis.Proxy(many, {
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
  it.each(['http://127.0.0.1/', 'http://[::ffff:7f00:1]/', 'http://169.254.169.254/'])(
    'is checked at every attempt: %s',
    async (url) => {
      expect(await send(senderWith({ allowCidrs: [] }), url)).toMatchObject({ error: 'blocked_address' });
    },
  );

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

describe('Through a proxy', () => {
  const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'proxy-login-')), 'login');

  /** Of a proxy that is down. */
  const nobodysUrl = async (): Promise<string> => {
    const gone = await Proxy.start();
    const url = gone.url();
    await gone.stop();
    return url;
  };

  let proxy: Proxy;
  let sender: Sender;

  const use = (url: string, loginFile?: string, options: SenderOptions = {}): void => {
    sender = senderWith({ ...options, proxy: egressProxy(url, loginFile) });
  };

  /** From now on, a sender as a worker opens it. @returns the lines that it logs */
  const useSettings = (settings: object): readonly unknown[] => {
    const said: unknown[] = [];
    const config = {
      WEBHOOK_ALLOW_HTTP: true,
      WEBHOOK_ALLOW_CIDRS: ['127.0.0.0/8'],
      WEBHOOK_SOURCE_ADDRESSES: [],
      WEBHOOK_ATTEMPT_TIMEOUT_MS: PATIENCE_MS,
      ...settings,
    } as never;
    const log = { warn: (...line: unknown[]) => void said.push(line) };
    sender = openSender({
      config,
      resolve: async () => ['127.0.0.1'],
      clock: { now: () => 0 },
      log,
      connectTimeoutMs: PATIENCE_MS,
    });
    return said;
  };

  beforeEach(async () => {
    proxy = await Proxy.start();
    use(proxy.url());
  });
  afterEach(async () => {
    sender.cancel();
    await proxy.stop();
  });

  it('gives the proxy the checked address and the receiver the name, and keeps the connection', async () => {
    const url = `http://receiver.example:${test.receiver.port}/hook`;
    expect(await send(sender, url)).toMatchObject({ error: null, statusCode: 204 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await send(sender, url)).toMatchObject({ error: null });
    expect(proxy.asked).toEqual([{ authority: `127.0.0.1:${test.receiver.port}`, authorization: undefined }]);
    expect(test.receiver.received[0]).toMatchObject({
      path: '/hook',
      headers: { host: `receiver.example:${test.receiver.port}` },
    });
    expect(test.receiver.received[0]!.headers).not.toHaveProperty('proxy-authorization');
  });

  it('verifies certificates by the name, as without a proxy', async () => {
    const names: string[] = [];
    const identity = await makeCertificate({ name: 'receiver.example' });
    const server = createTlsServer({
      ...identity,
      SNICallback: (name, done) => (names.push(name), done(null)),
    });
    server.on('tlsClientError', () => undefined);
    const port = await listen(server);
    expect(await send(sender, `https://receiver.example:${port}/`)).toMatchObject({ error: 'tls_error' });
    expect(names).toEqual(['receiver.example']);
    expect(proxy.asked).toMatchObject([{ authority: `127.0.0.1:${port}` }]);
  });

  it('does not request a blocked address', async () => {
    use(proxy.url(), undefined, { allowCidrs: [] });
    expect(await send(sender, `http://receiver.example:${test.receiver.port}/`)).toMatchObject({
      error: 'dns_failed',
    });
    expect(await send(sender, 'http://169.254.169.254/')).toMatchObject({ error: 'blocked_address' });
    expect(proxy.asked).toEqual([]);
  });

  it('takes the login from a file, again for each connection', async () => {
    const file = newFile();
    writeFileSync(file, 'worker:before\n');
    use(proxy.url(), file);
    await send(sender, test.receiver.url);
    writeFileSync(file, 'worker:after\n');
    await send(sender, test.receiver.url.replace('127.0.0.1', 'receiver.example'));
    rmSync(file);
    expect(await send(sender, test.receiver.url.replace('127.0.0.1', 'another.example'))).toMatchObject({
      error: 'proxy_failed',
    });
    const basic = (login: string) => ({ authorization: `Basic ${Buffer.from(login).toString('base64')}` });
    expect(proxy.asked).toMatchObject([basic('worker:before'), basic('worker:after')]);
  });

  it.each([
    [{}, 'worker:canary', 'is for WEBHOOK_PROXY_URL, which is not set'],
    [{ WEBHOOK_PROXY_URL: 'http://w:canary@proxy:3128' }, 'worker:canary', 'has a login, too'],
    [{ WEBHOOK_PROXY_URL: 'http://proxy:3128' }, null, 'cannot be read'],
    [{ WEBHOOK_PROXY_URL: 'http://proxy:3128' }, 'canary', 'must hold user:password'],
  ])('a worker does not start with %j and the login %j, and does not show it', (settings, login, reason) => {
    const file = newFile();
    if (login !== null) writeFileSync(file, login);
    const open = () => useSettings({ ...settings, WEBHOOK_PROXY_LOGIN_FILE: file });
    expect(open).toThrow(reason);
    expect(open).not.toThrow('canary');
  });

  it.each(['its URL', 'a file'])('shows a login in %s to the proxy alone, whatever fails', async (place) => {
    const file = newFile();
    writeFileSync(file, 'worker:canary');
    const isInFile = place === 'a file';
    const said = useSettings({
      WEBHOOK_PROXY_URL: proxy.url(isInFile ? '' : 'worker:canary@'),
      ...(isInFile && { WEBHOOK_PROXY_LOGIN_FILE: file }),
    });
    proxy.refusal = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
    const results = [await send(sender, test.receiver.url)];
    const encoded = Buffer.from('worker:canary').toString('base64');
    expect(proxy.asked).toMatchObject([{ authorization: `Basic ${encoded}` }]);
    await proxy.stop();
    results.push(await send(sender, test.receiver.url));
    rmSync(file);
    results.push(await send(sender, test.receiver.url));
    proxy = await Proxy.start();
    expect(results.map((result) => (result === 'cancelled' ? result : result.error))).toEqual(
      Array.from({ length: 3 }, () => 'proxy_failed'),
    );
    expect(said).toHaveLength(isInFile ? 3 : 2);
    expect(JSON.stringify([said, results])).not.toMatch(new RegExp(`canary|${encoded}`));
  });

  it.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n', 'proxy_failed'],
    ['HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n', 'connect_failed'],
    ['HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n', 'connect_failed'],
    ['SSH-2.0-OpenSSH_9.6\r\n', 'connect_failed'],
    ['', 'timeout'],
  ])('fails when the proxy answers %j', async (refusal, error) => {
    proxy.refusal = refusal;
    if (error === 'timeout') use(proxy.url(), undefined, { connectTimeoutMs: 200 });
    expect(await send(sender, test.receiver.url)).toMatchObject({ error });
    expect(test.receiver.received).toEqual([]);
  });

  it('fails when the proxy is unreachable, and differently when the receiver is', async () => {
    const { url } = test.receiver;
    await test.receiver.stop();
    expect(await send(sender, url)).toMatchObject({ error: 'connect_failed' });
    test.receiver = await Receiver.start();
    use(await nobodysUrl());
    expect(await send(sender, test.receiver.url)).toMatchObject({ error: 'proxy_failed' });
  });

  it('logs why the proxy cannot be used, not for each delivery', async () => {
    const said = useSettings({ WEBHOOK_PROXY_URL: await nobodysUrl() });
    for (let n = 0; n < 3; n += 1)
      expect(await send(sender, test.receiver.url)).toMatchObject({ error: 'proxy_failed' });
    expect(said).toEqual([[{ reason: 'ECONNREFUSED', times: 1 }, 'the proxy of webhooks cannot be used']]);
  });
});
