import { afterEach, expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { CONNECTION_LIMITS, HttpAdapter } from './http-adapter.js';

const opened: { server?: Server; sockets: Socket[] } = { sockets: [] };

afterEach(() => {
  for (const socket of opened.sockets.splice(0)) socket.destroy();
  opened.server?.closeAllConnections();
  opened.server?.close();
});

const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

/** A server whose every request is answered by `answer`. */
const serverOf = async (
  answer: (request: Request, response: Response) => void,
  limits: Partial<typeof CONNECTION_LIMITS> = {},
  proxies = 0,
) => {
  const adapter = new HttpAdapter({ HTTP_KEEP_ALIVE_MS: 75_000, TRUSTED_PROXIES: proxies }, limits);
  adapter.use(answer);
  adapter.initHttpServer();
  const server: Server = adapter.getHttpServer();
  opened.server = server;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    open: () => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      opened.sockets.push(socket);
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      return { socket, closed };
    },
  };
};

it('A body that outlasts the answer to it is not read, and ends its connection', async () => {
  const { open } = await serverOf((_, response) => void response.end('ok'));
  const { socket, closed } = open();
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunks = '1\r\n \r\n'.repeat(10_000);
  const pour = (): void => {
    while (!socket.destroyed && socket.write(chunks));
    socket.once('drain', pour);
  };
  pour();
  await closed;
  expect(answer).toMatch(/^HTTP\/1.1 200 OK[^]*connection: close/i);
  // What both sides' buffers hold, and no more: a second's worth would be hundreds of megabytes.
  expect(socket.bytesWritten).toBeLessThan(64_000_000);
});

it('A body of chunks that has been read keeps its connection', async () => {
  const { open } = await serverOf((request, response) => {
    request.resume().once('end', () => void response.end('ok'));
  });
  const { socket } = open();
  let answers = '';
  socket.on('data', (data) => (answers += data.toString()));
  const body = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\n \r\n0\r\n\r\n';
  for (let answered = 1; answered <= 2; answered += 1) {
    socket.write(body);
    while (answers.split('200 OK').length <= answered) await new Promise(setImmediate);
  }
  expect(answers).not.toMatch(/connection: close/i);
});

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

it('An answer that its caller does not read ends the connection', async () => {
  const { open } = await serverOf((_, response) => response.end(Buffer.alloc(64 * 1_048_576)), {
    silence: 200,
  });
  const { socket } = open();
  socket.pause().write(REQUEST);
  const server = opened.server!;
  await once(server, 'request');
  while ((await connectionsOf(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(socket.bytesRead).toBeLessThan(64 * 1_048_576);
});

it.each([
  [0, 2],
  [1, 3],
])('Of three connections of an address, behind %d proxies, %d are kept', async (proxies, kept) => {
  const { open } = await serverOf((_, response) => void response.end('ok'), { perAddress: 2 }, proxies);
  const all = [open(), open(), open()];
  if (kept < all.length) await all[2]!.closed;
  for (const { socket } of all.slice(0, kept)) {
    socket.write(REQUEST);
    expect(String(await once(socket, 'data'))).toContain('200 OK');
  }
});

it('Pipelined requests are answered one after the other, in their order', async () => {
  const started: string[] = [];
  const { open } = await serverOf((request, response) => {
    started.push(request.url);
    // The first would overtake no other if they ran side by side.
    setTimeout(() => response.end(`${started.join('')}\n`), request.url === '/1' ? 50 : 0);
  });
  const { socket } = open();
  let answers = '';
  socket.on('data', (data) => (answers += data.toString()));
  socket.write(['/1', '/2', '/3'].map((path) => REQUEST.replace('/ ', `${path} `)).join(''));
  while (!answers.endsWith('/1/2/3\n')) await new Promise(setImmediate);
  expect(answers.match(/^\/\S+$/gm)).toEqual(['/1', '/1/2', '/1/2/3']);
});

it('Of thousands of pipelined requests, only the first and those that may wait are started', async () => {
  let started = 0;
  const { open } = await serverOf((_, response) => {
    started += 1;
    setImmediate(() => response.end('ok'));
  });
  const { socket, closed } = open();
  socket.write(REQUEST.repeat(3_000));
  await closed;
  expect(started).toBeLessThanOrEqual(1 + CONNECTION_LIMITS.waiting);
});

it('A request that waits on a connection is not started once its caller has left', async () => {
  const started: string[] = [];
  const { open } = await serverOf((request) => void started.push(request.url));
  const { socket } = open();
  socket.write(REQUEST + REQUEST.replace('/ ', '/second '));
  while (started.length === 0) await new Promise(setImmediate);
  socket.destroy();
  const server = opened.server!;
  while ((await connectionsOf(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise(setImmediate);
  expect(started).toEqual(['/']);
});
