import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';
import { verifySignature } from './verify-signature.js';

interface Vector {
  readonly id: string;
  readonly t: number;
  readonly secrets: readonly ('S1' | 'S2')[];
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly header: string;
}

const { secrets, vectors } = JSON.parse(
  readFileSync(projectPath('libs/webhooks/test/signature-vectors.json'), 'utf8'),
) as { secrets: Record<'S1' | 'S2', string>; vectors: readonly Vector[] };

const bytesOf = ({ body, bodyBase64 }: Vector): Buffer =>
  body === undefined ? Buffer.from(bodyBase64 ?? '', 'base64') : Buffer.from(body);

const first = vectors[0]!;

describe('the verification of a webhook', () => {
  it.each(vectors.flatMap((vector) => vector.secrets.map((secret) => ({ vector, secret, id: vector.id }))))(
    'accepts $id under $secret',
    ({ vector, secret }) => {
      expect(verifySignature(secrets[secret], vector.header, bytesOf(vector), vector.t * 1000)).toBe(true);
    },
  );

  it('refuses another secret, another body, and a time more than 300 s away', () => {
    const verify = (secret: string, body: Buffer, seconds: number): boolean =>
      verifySignature(secret, first.header, body, (first.t + seconds) * 1000);
    const body = bytesOf(first);
    expect(verify(secrets.S1, body, 300)).toBe(true);
    expect(verify(secrets.S2, body, 0)).toBe(false);
    expect(verify(secrets.S1, Buffer.concat([body, Buffer.from(' ')]), 0)).toBe(false);
    expect(verify(secrets.S1, body, 301)).toBe(false);
    expect(verify(secrets.S1, body, -301)).toBe(false);
    expect(verify(Buffer.from(secrets.S1.slice(6), 'base64').toString('latin1'), body, 0)).toBe(false);
  });

  it('refuses a header that is absent or makes no sense', () => {
    for (const header of [
      undefined,
      '',
      't=',
      'v1=00',
      `t=${first.t}`,
      `t=${first.t},v1=`,
      `t=x,v1=${'0'.repeat(64)}`,
    ]) {
      expect(verifySignature(secrets.S1, header, bytesOf(first), first.t * 1000)).toBe(false);
    }
  });
});
