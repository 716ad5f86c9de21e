import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';
import { PATIENCE_MS } from '../../../test/sending.js';
import type { Attempts } from '../../../test/attempts.js';
import { makeCertificate, type Identity } from '../../../test/certificate.js';

const MIB = 1_048_576;
/** One that a receiver reaches that answers without end. */
const SHORT_MS = 1_000;
const open: { server: Server; sockets: Set<Socket> }[] = [];

const listen = async (server: Server): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  open.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Attempts made by a separate process. */
const attempts = async (
  urls: readonly string[],
  options: { timeoutMs?: number; repeats?: number; environment?: NodeJS.ProcessEnv } = {},
): Promise<Attempts> => {
  const { timeoutMs = PATIENCE_MS, repeats = 1, environment = {} } = options;
  const program = projectPath('dist/libs/webhooks/test/attempts.js');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, String(timeoutMs), String(repeats), ...urls],
    { env: { ...process.env, ...environment }, timeout: 2 * PATIENCE_MS },
  );
  return JSON.parse(stdout) as Attempts;
};

/** Writes the chunk repeatedly, as fast as it is read. */
const pour = (socket: Socket, chunk: Buffer | string): void => {
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
};

describe('The memory of a worker', () => {
  /** A server below HTTP that answers any request. */
  const answering = async (answer: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => void socket.once('data', () => answer(socket)));
    return `http://127.0.0.1:${await listen(server)}/`;
  };

  it('stays flat, and every deadline is kept, whatever receivers answer', async () => {
    const gigabyte = await answering((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${1_024 * MIB}\r\n\r\n`);
      pour(socket, Buffer.alloc(65_536, 'x'));
    });
    const bomb = gzipSync(Buffer.alloc(64 * MIB));
    const bombing = await answering((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    const headers = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      pour(socket, `x-more: ${'y'.repeat(1_000)}\r\n`);
    });
    const interim = await answering((socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'));
    const dripping = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const drip = setInterval(() => socket.write('.'), 50);
      socket.once('close', () => clearInterval(drip));
    });
    const repeats = 8;
    const each = (...found: readonly object[]) =>
      found.map((result) => Array.from({ length: repeats }, () => result));
    // Cut off long before the deadline.
    const cutOff = await attempts([gigabyte, bombing, headers, interim], { repeats });
    expect(cutOff.results).toEqual(
      each(
        { error: null, statusCode: 200 },
        { error: null, statusCode: 200 },
        { error: 'invalid_response', statusCode: null },
        { error: 'invalid_response', statusCode: null },
      ),
    );
    // It would go on for more than an hour.
    const late = await attempts([dripping], { timeoutMs: SHORT_MS, repeats });
    expect(late.results).toEqual(each({ error: 'timeout', statusCode: null }));
    expect(late.slowestMs).toBeLessThan(PATIENCE_MS);
    for (const { grownBytes } of [cutOff, late]) expect(grownBytes).toBeLessThan(64 * MIB);
  });
});

describe('A receiver over TLS', () => {
  const HOST = 'receiver.example';
  let folder: string;
  let authority: Identity;
  let issuer: Identity & { readonly name: string };

  beforeAll(async () => {
    const name = 'Authority of a test';
    authority = await makeCertificate({ name });
    issuer = { ...authority, name };
    folder = mkdtempSync(join(tmpdir(), 'webhooks-tls-'));
    writeFileSync(join(folder, 'authority.pem'), authority.cert);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const trusting = (): NodeJS.ProcessEnv => ({ NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') });

  const noContent = (socket: Socket): unknown =>
    socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
  const serving = async (identity: Identity, answer = noContent): Promise<string> => {
    const server = createTlsServer({ ...identity }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => answer(socket));
    });
    server.on('tlsClientError', () => undefined);
    return `https://${HOST}:${await listen(server)}/`;
  };

  it.each([
    ['as it is', {}],
    ['with the verification turned off for the process', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ])('is sent nothing if self-signed, expired, or of another host; %s', async (_, environment) => {
    const anHourAgo = Date.now() - 3_600_000;
    const urls = [
      await serving(await makeCertificate({ name: HOST, issuer })),
      await serving(await makeCertificate({ name: HOST })),
      await serving(await makeCertificate({ name: HOST, issuer, notAfter: anHourAgo })),
      await serving(await makeCertificate({ name: 'other.example', issuer })),
    ];
    const { results } = await attempts(urls, { environment: { ...environment, ...trusting() } });
    expect(results.flat()).toEqual([
      { error: null, statusCode: 204 },
      { error: 'tls_error', statusCode: null },
      { error: 'tls_error', statusCode: null },
      { error: 'tls_error', statusCode: null },
    ]);
  });

  it('is also cut off before the deadline when it floods the connection', async () => {
    const pouring = await serving(await makeCertificate({ name: HOST, issuer }), (socket) =>
      pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
    );
    const { results } = await attempts([pouring], { environment: trusting() });
    expect(results).toEqual([[{ error: 'invalid_response', statusCode: null }]]);
  });
});
