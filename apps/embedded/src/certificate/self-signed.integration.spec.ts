import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { selfSignedCertificate } from './self-signed.js';

const NOW = Date.parse('2026-11-22T10:00:00Z');
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const make = (change: Partial<Parameters<typeof selfSignedCertificate>[0]> = {}): string =>
  selfSignedCertificate({
    keys,
    name: 'localhost',
    from: new Date(NOW),
    until: new Date('2036-11-22T10:00:00Z'),
    serial: randomBytes(16),
    ...change,
  });

describe('a self-signed certificate', () => {
  it('is valid for OpenSSL, with the given name, times and serial number', () => {
    const serial = Buffer.from('00ff112233445566778899aabbccddee', 'hex');
    const certificate = new X509Certificate(make({ serial }));
    expect(certificate.subject).toBe('CN=localhost');
    expect(certificate.issuer).toBe('CN=localhost');
    expect(certificate.subjectAltName).toBe('DNS:localhost');
    expect(certificate.serialNumber).toBe('FF112233445566778899AABBCCDDEE');
    expect(new Date(certificate.validFrom).toISOString()).toBe('2026-11-22T10:00:00.000Z');
    expect(new Date(certificate.validTo).toISOString()).toBe('2036-11-22T10:00:00.000Z');
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('is signed with its own key only', () => {
    const certificate = new X509Certificate(make());
    expect(certificate.verify(keys.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(keys.privateKey)).toBe(true);
    expect(certificate.verify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)).toBe(false);
  });

  it.each(['2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z', '2123-04-05T06:07:08Z'])(
    'can expire at %s (the time format depends on the year)',
    (end) => {
      const { validTo } = new X509Certificate(make({ until: new Date(end) }));
      expect(new Date(validTo).toISOString()).toBe(new Date(end).toISOString());
    },
  );

  it('is trusted only by clients that have it and connect by its name', async () => {
    const cert = make({ from: new Date(Date.now() - 60_000), until: new Date(Date.now() + 60_000) });
    const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const server = createServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1');
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
    expect(await outcome(cert, 'localhost')).toBe('trusted');
    expect(await outcome(cert, 'example.com')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await outcome(undefined, 'localhost')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    const others = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(await outcome(make({ keys: others }), 'localhost')).not.toBe('trusted');
    server.close();
  });
});
