import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import fc from 'fast-check';
import { projectPath } from '#platform/project-path.js';
import { formatSecret, serviceSignature, standardSignature } from './signed-headers.js';
import { canonicalHeaders, headerFaults } from './custom-headers.js';

interface Vector {
  readonly id: string;
  readonly t: number;
  readonly secrets: readonly ('S1' | 'S2')[];
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly bodyBytes: number;
  readonly bodySha256?: string;
  readonly header: string;
  readonly standardWebhooks?: { readonly msgId: string; readonly signature: string };
}

const { secrets: keys, vectors } = JSON.parse(
  readFileSync(projectPath('libs', 'webhooks', 'test', 'signature-vectors.json'), 'utf8'),
) as { secrets: Record<'S1' | 'S2', string>; vectors: readonly Vector[] };
const bodyOf = ({ body, bodyBase64 }: Vector): Buffer =>
  body === undefined ? Buffer.from(bodyBase64!, 'base64') : Buffer.from(body, 'utf8');
const secretsOf = (vector: Vector): string[] => vector.secrets.map((name) => keys[name]);
const [v1, , v3] = vectors as readonly [Vector, Vector, Vector];

describe('The service signature', () => {
  it.each(vectors)('of vector $id is as computed with openssl', (vector) => {
    const body = bodyOf(vector);
    expect(body.length).toBe(vector.bodyBytes);
    if (vector.bodySha256) expect(createHash('sha256').update(body).digest('hex')).toBe(vector.bodySha256);
    expect(serviceSignature(secretsOf(vector), vector.t, body)).toBe(vector.header);
  });
});

describe('The Standard Webhooks signature', () => {
  it('is as in the vector', () => {
    const { msgId, signature } = v1.standardWebhooks!;
    expect(standardSignature([keys.S1], msgId, v1.t, bodyOf(v1))).toBe(signature);
  });

  it('verifies with the standardwebhooks package under each secret of an overlap', () => {
    const now = Math.floor(Date.now() / 1_000);
    const body = bodyOf(v1);
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(now),
      'webhook-signature': standardSignature(secretsOf(v3), 'evt_1', now, body),
    };
    for (const secret of secretsOf(v3)) {
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'reading.completed' });
    }
    const stranger = formatSecret(Buffer.alloc(33, 7));
    expect(() => new Webhook(stranger).verify(body, headers)).toThrow('No matching signature');
  });
});

const codes = (headers: Readonly<Record<string, unknown>>) => headerFaults(headers).map(({ code }) => code);

describe('Custom headers', () => {
  it('may carry credentials of the receiver, and anything of its own', () => {
    expect(
      codes({ Authorization: 'Bearer abc', Cookie: 'a=b; c=d', 'X-Tenant': 'eu 1', 'X-Api-Key': '~!' }),
    ).toEqual([]);
  });

  it.each([
    ...['Host', 'Transfer-Encoding', 'Accept-Encoding', 'content-type', 'X-Service-Signature', 'Webhook-Id'],
    ...['Proxy-Authorization', 'X-Forwarded-For'],
  ])('cannot replace %s, however it is written', (name) => {
    expect(codes({ [name]: 'x' })).toEqual(['reserved_name']);
    expect(codes({ [name.toUpperCase()]: 'x' })).toEqual(['reserved_name']);
  });

  it.each([
    ['a name with a space', { 'a b': 'x' }, 'invalid_name'],
    ['an empty name', { '': 'x' }, 'invalid_name'],
    ['a long name', { [`x-${'a'.repeat(63)}`]: 'x' }, 'invalid_name'],
    ['two spellings of one name', { 'X-A': '1', 'x-a': '2' }, 'repeated_name'],
    ['an empty value', { 'x-a': '' }, 'invalid_value'],
    ['a number', { 'x-a': 5 }, 'invalid_value'],
    ['a long value', { 'x-a': 'v'.repeat(1_001) }, 'invalid_value'],
    ['an accent', { 'x-a': 'é' }, 'invalid_value'],
    ['space at the end', { 'x-a': 'a ' }, 'invalid_value'],
  ])('cannot have %s', (_, headers, code) => {
    expect(codes(headers)).toEqual([code]);
  });

  it('never end a line, nor say what the service says itself, whatever is sent', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string(), { maxKeys: 12 }), (headers) => {
        if (headerFaults(headers).length > 0) return;
        for (const [name, value] of Object.entries(canonicalHeaders(headers))) {
          expect(`${name}: ${value}`).toMatch(/^[^\s:]+: [\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/);
          expect(name).toBe(name.toLowerCase());
          expect(name).not.toMatch(/^(host|connection|content-|x-service-|webhook-|transfer-encoding)/);
        }
      }),
    );
  });

  it('are refused without repeating a value', () => {
    const secret = 'Bearer\nsecret';
    expect(JSON.stringify(headerFaults({ authorization: secret }))).not.toContain('secret');
  });
});
