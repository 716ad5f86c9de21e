import { describe, expect, it } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { selfSignedCertificate } from './certificate.js';

describe('a self-signed certificate', () => {
  it('is trusted only by clients that have it and connect by its name', async () => {
    const make = () =>
      selfSignedCertificate({
        name: 'localhost',
        from: new Date(Date.now() - 60_000),
        until: new Date(Date.now() + 60_000),
      });
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
