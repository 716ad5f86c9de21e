import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../libs/webhooks/test/certificate.js';

export type PortalAnswer = (response: ServerResponse) => void;

/** A key of the portal, or of a stranger. */
export interface TokenKey {
  readonly privateKey: KeyObject;
  /** The published form. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

export const edKey = (kid: string): TokenKey => keyOf(generateKeyPairSync('ed25519'), kid);
export const rsaKey = (kid: string, bits = 2_048): TokenKey =>
  keyOf(generateKeyPairSync('rsa', { modulusLength: bits }), kid);

const keyOf = (
  { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject },
  kid: string,
): TokenKey => ({
  privateKey,
  jwk: { ...publicKey.export({ format: 'jwk' }), kid },
});

/** A JWS with any header and claims. `digest` is `sha256` for RSA, null for Ed25519. */
export const craftToken = (
  header: unknown,
  claims: unknown,
  key: KeyObject,
  digest: 'sha256' | null = null,
): string => {
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = encoded.join('.');
  return `${signed}.${sign(digest, Buffer.from(signed), key).toString('base64url')}`;
};

/** A portal that publishes its keys over https, with any answer the test sets. It counts the requests. */
export class HostilePortal {
  answer: PortalAnswer = (response) => void response.writeHead(404).end();
  asked = 0;

  private constructor(
    private readonly server: Server,
    private readonly folder: string,
  ) {}

  static async start(): Promise<HostilePortal> {
    const folder = mkdtempSync(join(tmpdir(), 'hostile-portal-'));
    const identity = await makeCertificate({ name: 'localhost' });
    writeFileSync(join(folder, 'cert.pem'), identity.cert);
    const server = createServer({ key: identity.key, cert: identity.cert });
    const portal = new HostilePortal(server, folder);
    server.on('request', (_, response) => {
      portal.asked += 1;
      portal.answer(response);
    });
    server.listen(0, 'localhost');
    await once(server, 'listening');
    return portal;
  }

  get url(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}/jwks.json`;
  }

  /** For the NODE_EXTRA_CA_CERTS of clients that are to trust it. */
  get certificateFile(): string {
    return join(this.folder, 'cert.pem');
  }

  publish(...keys: readonly TokenKey[]): void {
    const body = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
    this.answer = (response) => void response.end(body);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
