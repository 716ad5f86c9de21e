import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, jest, afterAll, beforeAll } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectPath } from '#platform/project-path.js';
import { makeCertificate, type Identity } from '../../../test/certificate.js';
import { listen, rawServer, send, senderWith, sending, PATIENCE_MS } from '../../../test/sending.js';
import type { AttemptResult } from '../../domain/attempt.js';
import type { Attempts } from '../../../test/attempts.js';

sending();
const HOST = 'receiver.example';

/** What the first message of a TLS client offers (RFC 8446, 4.1.2). */
const cipherSuitesOf = (hello: Buffer): readonly number[] => {
  // The record's header, the message's, its version, and a random number.
  const session = 5 + 4 + 2 + 32;
  const suites = session + 1 + hello[session]!;
  return Array.from({ length: hello.readUInt16BE(suites) / 2 }, (_, n) =>
    hello.readUInt16BE(suites + 2 + 2 * n),
  );
};

/** Writes the chunk repeatedly, as fast as it is read, and tells when it is written. */
const pour = (socket: Socket, chunk: Buffer | string, written = (): void => undefined): void => {
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk)) written();
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
};

/** A server below HTTP that answers any request. */
const answering = (answer: (socket: Socket) => void): Promise<string> =>
  rawServer((socket) => void socket.once('data', () => answer(socket)));

describe('A hostile receiver', () => {
  it('that answers without end is read for 64 KiB and kept for 4 KiB', async () => {
    let written = 0;
    const url = await answering((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n');
      pour(socket, Buffer.alloc(16_384, 'x'), () => (written += 16_384));
    });
    const result = (await send(senderWith(), url)) as AttemptResult;
    expect(result).toMatchObject({ error: null, statusCode: 200 });
    expect(result.responseBody).toHaveLength(4_096);
    expect(written).toBeLessThan(16_777_216);
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
    const url = await answering((socket) => {
      socket.write(start);
      pour(socket, chunk);
    });
    expect(await send(senderWith(), url)).toMatchObject({ error: 'invalid_response' });
  });

  it('cannot choose an exchange of keys whose numbers are its own, and cost seconds', async () => {
    const hellos: Buffer[] = [];
    const url = await rawServer((socket) =>
      socket.once('data', (data: Buffer) => {
        hellos.push(data);
        socket.destroy();
      }),
    );
    await send(senderWith(), url.replace('http:', 'https:'));
    const suites = cipherSuitesOf(hellos[0]!);
    // Of TLS 1.3, and with elliptic curves.
    expect(suites).toEqual(expect.arrayContaining([0x1301, 0xc02f]));
    // DHE with RSA, RFC 5246, 5288 and 7905.
    expect(suites.filter((suite) => [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xccaa].includes(suite))).toEqual(
      [],
    );
  });

  it('cannot occupy the worker with messages of TLS that have no content', async () => {
    // HelloRequest, before anything is encrypted (RFC 5246, 7.4.1.1).
    const message = Buffer.from('160303000400000000', 'hex');
    let written = 0;
    const url = await answering((socket) =>
      pour(socket, Buffer.concat(Array<Buffer>(100).fill(message)), () => (written += 900)),
    );
    expect(await send(senderWith(), url.replace('http:', 'https:'))).toMatchObject({
      error: 'invalid_response',
    });
    // What the buffers of the system hold.
    expect(written).toBeLessThan(16_777_216);
  });

  it('cannot have more certificates verified than a connection needs', async () => {
    const [own, another] = [await makeCertificate({ name: HOST }), await makeCertificate({ name: 'a' })];
    const presenting = async (certificates: number) => {
      const cert = [own, ...Array.from({ length: certificates - 1 }, () => another)]
        .map((one) => one.cert)
        .join('\n');
      const server = createServer({ key: own.key, cert });
      server.on('tlsClientError', () => undefined);
      return send(senderWith(), `https://${HOST}:${await listen(server)}/`);
    };
    // Of some 400 bytes each: the worker looked at the first chain, and at none of the second.
    expect(await presenting(20)).toMatchObject({ error: 'tls_error' });
    expect(await presenting(40)).toMatchObject({ error: 'invalid_response' });
  });

  it('whose certificates take long holds up connections of its own workspace alone', async () => {
    const identity = await makeCertificate({ name: HOST });
    const server = createServer(identity);
    server.on('tlsClientError', () => undefined);
    const url = `https://${HOST}:${await listen(server)}/`;
    const sender = senderWith();
    const refused = { error: 'tls_error' };
    const clock = jest.spyOn(process, 'cpuUsage').mockReturnValue({ user: 60_000_000, system: 0 });
    try {
      expect(await send(sender, url)).toMatchObject(refused);
    } finally {
      clock.mockRestore();
    }
    const held = send(sender, url, 'we_b');
    expect(await send(sender, url, 'we_c', 'ws_b')).toMatchObject(refused);
    sender.cancel();
    expect(await held).toBe('cancelled');
  });
});

describe('In a process of its own', () => {
  const MIB = 1_048_576;
  /** One that a receiver reaches that answers without end. */
  const SHORT_MS = 1_000;

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

  describe('The memory of a worker', () => {
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
    const serving = async (
      identity: Identity,
      answer: (socket: TLSSocket) => unknown = noContent,
      options: TlsOptions = {},
    ): Promise<string> => {
      const server = createServer({ ...identity, ...options }, (socket) => {
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

    it('cannot negotiate again, nor make keys of numbers that take long', async () => {
      const identity = await makeCertificate({ name: HOST, issuer });
      const again = (socket: TLSSocket): unknown => socket.renegotiate({}, () => noContent(socket));
      const urls = [
        await serving(identity, again, { maxVersion: 'TLSv1.2' }),
        await serving(identity, noContent, { ecdhCurve: 'ffdhe8192' }),
        await serving(identity, noContent, { maxVersion: 'TLSv1.2', ecdhCurve: 'P-384' }),
      ];
      const { results } = await attempts(urls, { environment: trusting() });
      expect(results.flat()).toEqual([
        { error: 'invalid_response', statusCode: null },
        { error: 'tls_error', statusCode: null },
        { error: null, statusCode: 204 },
      ]);
    });
  });
});
