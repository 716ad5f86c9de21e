import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Kms {
  readonly url: string;
  readonly token: string;
  /** Names of its keys. */
  readonly keys: ReadonlyMap<string, { allowed: boolean }>;
  /** `method path` of each call, oldest first. */
  readonly calls: readonly string[];
  /** How it answers from now on: correctly, with an error status, or never. */
  mood: 'well' | 'silent' | number;
  stop(): Promise<void>;
}

/**
 * A small stand-in for the transit engine of HashiCorp Vault, as its API documentation describes it: keys by name, data
 * keys, deletion only when allowed. It answers 404 for a missing key, 400 for an undecryptable text, 403 for a wrong token.
 */
export const startKms = async ({ mount = 'transit', namespace = '' } = {}): Promise<Kms> => {
  const token = randomBytes(12).toString('hex');
  const keys = new Map<string, { key: Buffer; allowed: boolean }>();
  const calls: string[] = [];
  const kms = { mood: 'well' as Kms['mood'] };

  const answer = (method: string, path: string, body: Record<string, unknown>): [number, object?] => {
    const [what, kind, name = ''] = path.startsWith(`/v1/${mount}/`)
      ? path.slice(`/v1/${mount}/`.length).replace('datakey/plaintext', 'datakey+').split('/')
      : [];
    const named = what === 'keys' || what === 'decrypt' || what === 'datakey+' ? (kind ?? '') : '';
    const found = keys.get(named);
    if (method === 'GET' && path.endsWith('keys?list=true'))
      return keys.size > 0 ? [200, { data: { keys: [...keys.keys()] } }] : [404, { errors: [] }];
    if (what === 'keys' && name === 'config' && found) {
      found.allowed = body['deletion_allowed'] === true;
      return [200, { data: {} }];
    }
    if (what === 'keys' && method === 'POST') {
      if (!found) keys.set(named, { key: randomBytes(32), allowed: false });
      return [200, { data: { name: named } }];
    }
    if (what === 'keys' && method === 'GET')
      return found ? [200, { data: { name: named } }] : [404, { errors: [] }];
    if (what === 'keys' && method === 'DELETE') {
      if (!found?.allowed) return [400, { errors: ['deletion is not allowed for this key'] }];
      keys.delete(named);
      return [204];
    }
    if (!found) return [400, { errors: ['encryption key not found'] }];
    if (what === 'datakey+') {
      const plaintext = randomBytes(32);
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', found.key, nonce);
      const sealed = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
      return [
        200,
        {
          data: {
            plaintext: plaintext.toString('base64'),
            ciphertext: `vault:v1:${sealed.toString('base64')}`,
          },
        },
      ];
    }
    const sealed = Buffer.from(String(body['ciphertext']).replace('vault:v1:', ''), 'base64');
    const decipher = createDecipheriv('aes-256-gcm', found.key, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    try {
      const plaintext = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
      return [200, { data: { plaintext: plaintext.toString('base64') } }];
    } catch {
      return [400, { errors: ['cipher: message authentication failed'] }];
    }
  };

  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = '', url = '', headers } = request;
      calls.push(`${method} ${url}`);
      if (kms.mood === 'silent') return;
      const isKnown =
        headers['x-vault-token'] === token && (headers['x-vault-namespace'] ?? '') === namespace;
      const [status, json] =
        typeof kms.mood === 'number'
          ? [kms.mood, { errors: ['as the test says'] }]
          : isKnown
            ? answer(method, url, body)
            : [403, { errors: ['permission denied'] }];
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(json === undefined ? undefined : JSON.stringify(json));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(kms, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    keys,
    calls,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
};

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
};
