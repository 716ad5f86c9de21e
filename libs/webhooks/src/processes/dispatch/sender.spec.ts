import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ResolveHost } from '../../application/resolve-host.js';
import type { AttemptResult } from '../../domain/delivery/attempt-result.js';
import { makeCertificate } from '../../../test/certificate.js';
import { Receiver, eventually, status } from '../../../test/receiver.js';
import { PinnedConnections, type EgressProxy } from './pinned-connections.js';
import { Sender } from './sender.js';

const NOW = Date.parse('2026-04-04T09:30:00Z');
const LOOPBACK = ['127.0.0.0/8'];

let receiver: Receiver;
const open: { close(): unknown }[] = [];

interface Options {
  readonly resolve?: ResolveHost;
  readonly allowCidrs?: readonly string[];
  readonly exchangeTimeoutMs?: number;
  readonly proxy?: EgressProxy | null;
}

const senderWith = ({
  resolve,
  allowCidrs = LOOPBACK,
  exchangeTimeoutMs = 5_000,
  proxy = null,
}: Options = {}): Sender => {
  const connections = new PinnedConnections({
    connectTimeoutMs: 1_000,
    exchangeTimeoutMs,
    perReceiver: 5,
    allowCidrs,
    proxy,
  });
  const sender = new Sender(
    connections,
    resolve ?? (async () => ['127.0.0.1']),
    { allowHttp: true, allowCidrs },
    exchangeTimeoutMs,
    () => NOW,
  );
  open.push(sender);
  return sender;
};
const send = (sender: Sender, url: string, endpointId = 'we_a') =>
  sender.send({
    endpointId,
    url,
    headers: { 'x-service-event': 'reading.completed' },
    body: Buffer.from('{}'),
  });

/** A server below HTTP, which does to its connections what it is told. */
const rawServer = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return `http://127.0.0.1:${await listen(server)}/`;
};
const listen = async (server: Server): Promise<number> => {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await receiver.stop();
});

describe('An attempt', () => {
  it('succeeds on 2xx', async () => {
    expect(await send(senderWith(), receiver.url)).toMatchObject({ error: null, statusCode: 204 });
    expect(receiver.received).toMatchObject([{ path: '/hook', headers: { 'accept-encoding': 'identity' } }]);
  });

  it('does not follow a redirect', async () => {
    receiver.answer = status(302, { location: 'http://169.254.169.254/latest/meta-data' });
    expect(await send(senderWith(), receiver.url)).toMatchObject({
      error: 'redirect_not_followed',
      statusCode: 302,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('sends no credentials and no cookies', async () => {
    receiver.answer = status(200, { 'set-cookie': 'session=1' });
    const sender = senderWith();
    await send(sender, receiver.url);
    await send(sender, receiver.url);
    for (const { headers } of receiver.received) {
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('authorization');
    }
  });

  it('reads Retry-After of 429 and 503 alone', async () => {
    receiver.answer = status(503, { 'retry-after': '120' });
    expect(await send(senderWith(), receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: 120_000,
    });
    receiver.answer = status(500, { 'retry-after': '120' });
    expect(await send(senderWith(), receiver.url)).toMatchObject({ error: 'http_error', retryAfterMs: null });
  });

  it('keeps a connection for the next, but shares none between endpoints', async () => {
    const sender = senderWith();
    await send(sender, receiver.url);
    await new Promise((resolve) => setImmediate(resolve));
    await send(sender, receiver.url);
    expect(receiver.sockets.size).toBe(1);
    await send(sender, receiver.url, 'we_b');
    expect(receiver.sockets.size).toBe(2);
  });

  it('pays no heed to proxy variables', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:1',
      http_proxy: 'http://127.0.0.1:1',
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      expect(await send(senderWith(), receiver.url)).toMatchObject({ error: null });
    } finally {
      process.env = before;
    }
  });

  it('ends without a result when it is cancelled', async () => {
    receiver.answer = () => undefined;
    const sender = senderWith();
    const sent = send(sender, receiver.url);
    await eventually(() => receiver.received.length === 1);
    sender.cancel();
    expect(await sent).toBe('cancelled');
  });
});

describe('A hostile receiver', () => {
  it('that never answers ends in a timeout', async () => {
    receiver.answer = () => undefined;
    expect(await send(senderWith({ exchangeTimeoutMs: 200 }), receiver.url)).toMatchObject({
      error: 'timeout',
    });
  });

  it('that drips ends in a timeout of the whole exchange', async () => {
    receiver.answer = (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 20);
      response.once('close', () => clearInterval(drip));
    };
    expect(await send(senderWith({ exchangeTimeoutMs: 300 }), receiver.url)).toMatchObject({
      error: 'timeout',
    });
  });

  it('that answers without end is read for 64 KiB and kept for 4 KiB', async () => {
    let written = 0;
    receiver.answer = (response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(16_384, 'x');
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length;
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    };
    const result = (await send(senderWith(), receiver.url)) as AttemptResult;
    expect(result).toMatchObject({ error: null, statusCode: 200 });
    expect(result.responseBody).toHaveLength(4_096);
    await eventually(() => receiver.open === 0);
    expect(written).toBeLessThan(16_777_216);
  });

  it('that sends a compression bomb has it kept as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    receiver.answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    const { responseBody } = (await send(senderWith(), receiver.url)) as AttemptResult;
    expect(Buffer.from(responseBody!)).toEqual(bomb.subarray(0, 4_096));
  });

  it('that sends a megabyte of headers is not listened to', async () => {
    const url = await rawServer((socket) =>
      socket.once('data', () =>
        socket.write(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n`),
      ),
    );
    expect(await send(senderWith(), url)).toMatchObject({ error: 'invalid_response' });
  });

  it('is heard after a few interim answers, whose headers count for nothing', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nretry-after: 3600\r\n\r\n';
    const url = await rawServer((socket) =>
      socket.once('data', () =>
        socket.end(`${early.repeat(8)}HTTP/1.1 503 Busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
      ),
    );
    expect(await send(senderWith(), url)).toMatchObject({ statusCode: 503, retryAfterMs: null });
  });

  const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  it.each([
    ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['empty lines', '', '\r\n'],
    ['the words after a status', 'HTTP/1.1 200 ', 'O'],
    ['the extension of a chunk', `${CHUNKED}1;`, 'x'],
    ['the length of a chunk', CHUNKED, '0'],
    ['trailers', `${CHUNKED}0\r\n`, 'x-more: y\r\n'],
  ])('that sends %s without end is not listened to until its deadline', async (_, start, more) => {
    const chunk = more.repeat(1_000);
    const url = await rawServer((socket) =>
      socket.once('data', () => {
        const pour = (): void => {
          while (!socket.destroyed && socket.write(chunk));
          if (!socket.destroyed) socket.once('drain', pour);
        };
        socket.write(start);
        pour();
      }),
    );
    expect(await send(senderWith(), url)).toMatchObject({ error: 'invalid_response' });
  });

  it('is heard again and again on one connection, however much its answers come to', async () => {
    receiver.answer = (response) => response.writeHead(200).end('x'.repeat(60_000));
    const sender = senderWith();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect(await send(sender, receiver.url)).toMatchObject({ error: null, statusCode: 200 });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(receiver.sockets.size).toBe(1);
  });

  it('that does not speak HTTP is told apart from one that hangs up', async () => {
    const garbage = await rawServer((socket) =>
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
    );
    expect(await send(senderWith(), garbage)).toMatchObject({ error: 'invalid_response' });
    const silence = await rawServer((socket) => socket.once('data', () => socket.destroy()));
    expect(await send(senderWith(), silence)).toMatchObject({ error: 'connection_lost' });
  });

  it('that shows a certificate nobody vouches for is not spoken to', async () => {
    const names: string[] = [];
    let bytes = 0;
    const server = createTlsServer(
      {
        ...makeCertificate({ name: 'receiver.example' }),
        SNICallback: (name, done) => (names.push(name), done(null)),
      },
      (socket) => socket.on('data', (chunk) => (bytes += chunk.length)),
    );
    server.on('tlsClientError', () => undefined);
    const port = await listen(server);
    expect(await send(senderWith(), `https://receiver.example:${port}/`)).toMatchObject({
      error: 'tls_error',
    });
    expect(names).toEqual(['receiver.example']);
    expect(bytes).toBe(0);
  });
});

describe('A name', () => {
  it('is resolved once; its address is dialled and the name is only spoken', async () => {
    const asked: string[] = [];
    const resolve: ResolveHost = async (name) => {
      asked.push(name);
      return ['127.0.0.1'];
    };
    const result = await send(senderWith({ resolve }), `http://receiver.example:${receiver.port}/hook`);
    expect(result).toMatchObject({ error: null });
    expect(asked).toEqual(['receiver.example']);
    expect(receiver.received[0]!.headers).toMatchObject({ host: `receiver.example:${receiver.port}` });
  });

  it('that leads elsewhere the next time is checked again', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const sender = senderWith({ resolve: async () => answers.shift()! });
    const url = `http://receiver.example:${receiver.port}/`;
    expect(await send(sender, url)).toMatchObject({ error: null });
    expect(await send(sender, url)).toMatchObject({ error: 'blocked_address' });
  });

  it.each([
    [['127.0.0.1', '10.0.0.1'], 'one private among others'],
    [['169.254.169.254'], 'a metadata address'],
    [['::ffff:10.0.0.1'], 'a mapped address'],
  ])('that leads to %j is not dialled: %s', async (addresses) => {
    const sender = senderWith({ resolve: async () => addresses });
    expect(await send(sender, `http://receiver.example:${receiver.port}/`)).toMatchObject({
      error: 'blocked_address',
    });
    expect(receiver.sockets.size).toBe(0);
  });

  it('without an address is a failure of its own, and so is a resolver that hangs', async () => {
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
    const { port } = receiver;
    await receiver.stop();
    expect(await send(senderWith(), `http://127.0.0.1:${port}/`)).toMatchObject({ error: 'connect_failed' });
    receiver = await Receiver.start();
  });
});
