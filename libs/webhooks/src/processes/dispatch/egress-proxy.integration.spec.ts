import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PATIENCE_MS } from '../../../test/sending.js';
import { makeCertificate } from '../../../test/certificate.js';
import { Proxy } from '../../../test/proxy.js';
import { Receiver } from '../../../test/receiver.js';
import { openSender, Sender } from './sender.js';
import { PinnedConnections, egressProxy } from './connections.js';

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'proxy-login-')), 'login');

/** Of a proxy that is down. */
const nobodysUrl = async (): Promise<string> => {
  const gone = await Proxy.start();
  const url = gone.url();
  await gone.stop();
  return url;
};

let proxy: Proxy;
let receiver: Receiver;
let sender: Sender;

const senderThrough = (
  url: string,
  allowCidrs = ['127.0.0.0/8'],
  loginFile?: string,
  connectTimeoutMs = PATIENCE_MS,
): Sender => {
  const connections = new PinnedConnections({
    connectTimeoutMs,
    allowCidrs,
    proxy: egressProxy(url, loginFile),
  });
  const resolve = async () => ['127.0.0.1'];
  return new Sender(connections, resolve, { allowHttp: true, allowCidrs }, PATIENCE_MS, Date.now);
};
const send = (url: string) => sender.send({ endpointId: 'we_a', url, headers: {}, body: Buffer.from('{}') });

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
  receiver = await Receiver.start();
  proxy = await Proxy.start();
  sender = senderThrough(proxy.url());
});
afterEach(async () => {
  sender.cancel();
  await proxy.stop();
  await receiver.stop();
});

describe('Sending through an egress proxy', () => {
  it('gives the proxy the checked address and the receiver the name, and keeps the connection', async () => {
    const url = `http://receiver.example:${receiver.port}/hook`;
    expect(await send(url)).toMatchObject({ error: null, statusCode: 204 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await send(url)).toMatchObject({ error: null });
    expect(proxy.asked).toEqual([{ authority: `127.0.0.1:${receiver.port}`, authorization: undefined }]);
    expect(receiver.received[0]).toMatchObject({
      path: '/hook',
      headers: { host: `receiver.example:${receiver.port}` },
    });
    expect(receiver.received[0]!.headers).not.toHaveProperty('proxy-authorization');
  });

  it('verifies certificates by the name, as without a proxy', async () => {
    const names: string[] = [];
    const identity = await makeCertificate({ name: 'receiver.example' });
    const server = createTlsServer({
      ...identity,
      SNICallback: (name, done) => (names.push(name), done(null)),
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await send(`https://receiver.example:${port}/`)).toMatchObject({ error: 'tls_error' });
    expect(names).toEqual(['receiver.example']);
    expect(proxy.asked).toMatchObject([{ authority: `127.0.0.1:${port}` }]);
    await new Promise((resolve) => server.close(resolve));
  });

  it('does not request a blocked address', async () => {
    sender = senderThrough(proxy.url(), []);
    expect(await send(`http://receiver.example:${receiver.port}/`)).toMatchObject({ error: 'dns_failed' });
    expect(await send('http://169.254.169.254/')).toMatchObject({ error: 'blocked_address' });
    expect(proxy.asked).toEqual([]);
  });

  it('authenticates where required', async () => {
    sender = senderThrough(proxy.url('worker:p%40ss@'));
    await send(receiver.url);
    const authorization = `Basic ${Buffer.from('worker:p@ss').toString('base64')}`;
    expect(proxy.asked).toMatchObject([{ authorization }]);
  });

  it('takes the login from a file, again for each connection', async () => {
    const file = newFile();
    writeFileSync(file, 'worker:before\n');
    sender = senderThrough(proxy.url(), ['127.0.0.0/8'], file);
    await send(receiver.url);
    writeFileSync(file, 'worker:after\n');
    await send(receiver.url.replace('127.0.0.1', 'receiver.example'));
    rmSync(file);
    expect(await send(receiver.url.replace('127.0.0.1', 'another.example'))).toMatchObject({
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
    const results = [await send(receiver.url)];
    const encoded = Buffer.from('worker:canary').toString('base64');
    expect(proxy.asked).toMatchObject([{ authorization: `Basic ${encoded}` }]);
    await proxy.stop();
    results.push(await send(receiver.url));
    rmSync(file);
    results.push(await send(receiver.url));
    proxy = await Proxy.start();
    expect(results.map((result) => (result === 'cancelled' ? result : result.error))).toEqual(
      Array.from({ length: 3 }, () => 'proxy_failed'),
    );
    expect(said).toHaveLength(isInFile ? 3 : 2);
    expect(JSON.stringify([said, results])).not.toMatch(new RegExp(`canary|${encoded}`));
  });

  it.each([
    ['HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n', 'connect_failed'],
    ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n', 'proxy_failed'],
    ['HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n', 'connect_failed'],
    ['HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n', 'connect_failed'],
    ['HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\n\r\n', 'connect_failed'],
    ['SSH-2.0-OpenSSH_9.6\r\n', 'connect_failed'],
    ['', 'timeout'],
  ])('fails when the proxy answers %j', async (refusal, error) => {
    proxy.refusal = refusal;
    if (error === 'timeout') sender = senderThrough(proxy.url(), undefined, undefined, 200);
    expect(await send(receiver.url)).toMatchObject({ error });
    expect(receiver.received).toEqual([]);
  });

  it('fails when the proxy is unreachable, and differently when the receiver is', async () => {
    const { url } = receiver;
    await receiver.stop();
    expect(await send(url)).toMatchObject({ error: 'connect_failed' });
    receiver = await Receiver.start();
    sender = senderThrough(await nobodysUrl());
    expect(await send(receiver.url)).toMatchObject({ error: 'proxy_failed' });
  });

  it('logs why the proxy cannot be used, not for each delivery', async () => {
    const said = useSettings({ WEBHOOK_PROXY_URL: await nobodysUrl() });
    for (let n = 0; n < 3; n += 1) expect(await send(receiver.url)).toMatchObject({ error: 'proxy_failed' });
    expect(said).toEqual([[{ reason: 'ECONNREFUSED', times: 1 }, 'the proxy of webhooks cannot be used']]);
  });
});
