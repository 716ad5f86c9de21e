import { describe, expect, it, afterAll } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { selfSignedCertificate, listenOnce, otherEventStore } from './event-store-process.js';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

describe('a self-signed certificate', () => {
  it('is trusted only by clients that have it and connect by its name', async () => {
    const make = () =>
      selfSignedCertificate('localhost', new Date(Date.now() - 60_000), new Date(Date.now() + 60_000));
    const identity = await make();
    // It cannot sign others.
    expect(new X509Certificate(identity.cert).ca).toBe(false);
    const server = createServer(identity, (socket) => socket.end()).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => undefined);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const outcome = (ca: string | undefined, servername: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ port, host: '127.0.0.1', servername, ...(ca && { ca }) }, () => {
          resolve('trusted');
          socket.destroy();
        });
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      });
    expect(await outcome(identity.cert, 'localhost')).toBe('trusted');
    expect(await outcome(identity.cert, 'example.com')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await outcome(undefined, 'localhost')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(await outcome((await make()).cert, 'localhost')).not.toBe('trusted');
    server.close();
  });
});

const folder = mkdtempSync(join(tmpdir(), "other store's "));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers as a node does that becomes the leader at its third answer, and notes how it ends. */
const NODE = `
  const { createServer } = require('node:http');
  const { writeFileSync } = require('node:fs');
  const [, , port, data] = process.argv;
  let answers = 0;
  createServer((_, response) => {
    const state = ++answers < 3 ? 'Unknown' : 'Leader';
    response.end(JSON.stringify({ members: [{ state, isAlive: true }] }));
  }).listen(Number(port), '127.0.0.1');
  process.on('SIGTERM', () => {
    writeFileSync(data + '/ended', String(answers));
    process.exit(0);
  });
`;

it('Another event store gets its port and folder, leads when it says so, and ends with its owner', async () => {
  const program = join(folder, 'node.cjs');
  writeFileSync(program, NODE);
  const port = await listenOnce(0, '127.0.0.1');
  const { command, args, url, leads } = otherEventStore(
    `"${process.execPath}" "${program}" {port} {data}`,
    port,
    folder,
  );
  expect(url).toBe(`esdb://127.0.0.1:${port}?tls=false`);
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  await leads();
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(Number(readFileSync(join(folder, 'ended'), 'utf8'))).toBeGreaterThanOrEqual(3);
});
