import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectPath } from '../../platform/src/project-path.js';
import { WebhookVerificationError, verifyWebhook, type WebhookHeaders } from './index.js';

interface Vector {
  readonly id: string;
  readonly t: number;
  readonly secrets: readonly ('S1' | 'S2')[];
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly header: string;
  readonly standardWebhooks?: { readonly msgId: string; readonly signature: string };
}

const { secrets, vectors } = JSON.parse(
  readFileSync(projectPath('libs', 'webhooks', 'test', 'signature-vectors.json'), 'utf8'),
) as { secrets: Record<'S1' | 'S2', string>; vectors: readonly Vector[] };
const bodyOf = ({ body, bodyBase64 }: Vector): Buffer =>
  body === undefined ? Buffer.from(bodyBase64!, 'base64') : Buffer.from(body, 'utf8');
const [v1, v2, v3] = vectors as readonly [Vector, Vector, Vector];

const service = ({ header }: Vector): WebhookHeaders => ({ 'x-service-signature': header });
const standard = ({ t, standardWebhooks }: Vector): Record<string, string> => ({
  'webhook-id': standardWebhooks!.msgId,
  'webhook-timestamp': String(t),
  'webhook-signature': standardWebhooks!.signature,
});
/** The code of the failure, or `verified`. */
const outcome = (...args: Parameters<typeof verifyWebhook>): string => {
  try {
    verifyWebhook(...args);
    return 'verified';
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code;
    throw error;
  }
};
const at = (seconds: number) => ({ now: seconds * 1_000 });

describe('verifyWebhook', () => {
  it.each(vectors)('accepts vector $id with each of its secrets, alone or with others', (vector) => {
    for (const name of vector.secrets) {
      for (const given of [secrets[name], ['whsec_b2xk', secrets[name]]]) {
        expect(outcome(bodyOf(vector), service(vector), given, at(vector.t))).toBe('verified');
      }
    }
  });

  it('returns the event', () => {
    const event = verifyWebhook(bodyOf(v1), service(v1), secrets.S1, at(v1.t));
    expect(event).toEqual(JSON.parse(bodyOf(v1).toString('utf8')));
    expect(verifyWebhook(bodyOf(v1).toString('utf8'), service(v1), secrets.S1, at(v1.t))).toEqual(event);
  });

  it('returns a notice, which `type` tells from an event', () => {
    const body = JSON.stringify({
      id: 'evt_1',
      type: 'batch.ended',
      batchId: 'b1',
      data: { counts: { failed: 2 } },
    });
    const v1 = createHmac('sha256', secrets.S1).update(`100.${body}`).digest('hex');
    const received = verifyWebhook(body, { 'x-service-signature': `t=100,v1=${v1}` }, secrets.S1, at(100));
    // The types: an event has no batchId.
    const about = 'batchId' in received ? received.batchId : null;
    expect(about).toBe('b1');
  });

  it('accepts Standard Webhooks headers without our own', () => {
    expect(outcome(bodyOf(v1), standard(v1), secrets.S1, at(v1.t))).toBe('verified');
    const two = {
      ...standard(v1),
      'webhook-signature': `v1,bm90IHRoaXM= v2,x ${v1.standardWebhooks!.signature}`,
    };
    expect(outcome(bodyOf(v1), two, secrets.S1, at(v1.t))).toBe('verified');
    const other = { ...standard(v1), 'webhook-id': 'evt_other' };
    expect(outcome(bodyOf(v1), other, secrets.S1, at(v1.t))).toBe('no_matching_signature');
    expect(outcome(bodyOf(v1), standard(v1), secrets.S2, at(v1.t))).toBe('no_matching_signature');
    expect(outcome(bodyOf(v1), standard(v1), secrets.S1, at(v1.t + 301))).toBe('timestamp_out_of_tolerance');
  });

  it('accepts headers in every form that frameworks use', () => {
    for (const headers of [
      new Headers({ 'X-Service-Signature': v1.header }),
      { 'X-Service-Signature': v1.header },
      { 'x-service-signature': [v1.header] },
      { 'x-service-signature': v1.header.replace(',', ' , ') },
    ]) {
      expect(outcome(bodyOf(v1), headers, secrets.S1, at(v1.t))).toBe('verified');
    }
  });

  it('tolerates five minutes either way, or the given tolerance', () => {
    const after = (seconds: number, toleranceSeconds?: number) =>
      outcome(bodyOf(v1), service(v1), secrets.S1, {
        ...at(v1.t + seconds),
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      });
    expect([after(300), after(-300)]).toEqual(['verified', 'verified']);
    expect([after(301), after(-301)]).toEqual(Array(2).fill('timestamp_out_of_tolerance'));
    expect([after(301, 400), after(11, 10)]).toEqual(['verified', 'timestamp_out_of_tolerance']);
    expect(after(0, Number.NaN)).toBe('timestamp_out_of_tolerance');
    expect(outcome(bodyOf(v1), service(v1), secrets.S1)).toBe('timestamp_out_of_tolerance');
  });

  it('refuses different bytes, a wrong secret and the decoded secret', () => {
    const decoded = Buffer.from(secrets.S1.slice('whsec_'.length), 'base64').toString('utf8');
    const reserialised = JSON.stringify(JSON.parse(bodyOf(v2).toString('utf8')));
    expect(outcome(Buffer.concat([bodyOf(v1), Buffer.from(' ')]), service(v1), secrets.S1, at(v1.t))).toBe(
      'no_matching_signature',
    );
    for (const [body, vector, secret] of [
      [reserialised, v2, secrets.S1],
      [bodyOf(v1), v1, secrets.S2],
      [bodyOf(v1), v1, decoded],
    ] as const) {
      expect(outcome(body, service(vector), secret, at(vector.t))).toBe('no_matching_signature');
    }
  });

  it.each([
    [{}, 'missing_header'],
    [{ 'webhook-signature': 'v1,abc=' }, 'missing_header'],
    [{ 'x-service-signature': 'v1=00' }, 'malformed_header'],
    [{ 'x-service-signature': 't=soon,v1=00' }, 'malformed_header'],
    [{ 'x-service-signature': `t=-${v1.t},v1=00` }, 'malformed_header'],
    [{ 'x-service-signature': `t=${v1.t}` }, 'no_matching_signature'],
    [{ 'x-service-signature': v1.header.toUpperCase().replace('T=', 't=') }, 'no_matching_signature'],
    [{ 'x-service-signature': v1.header.replace('v1=', 'v0=') }, 'no_matching_signature'],
  ])('reports what is wrong with %j', (headers, code) =>
    expect(outcome(bodyOf(v1), headers, secrets.S1, at(v1.t))).toBe(code),
  );

  it('requires a secret, because anybody can sign with an empty one', () => {
    const forged = createHmac('sha256', '').update(`evt_1.${v3.t}.{"id":"evt_1"}`).digest('base64');
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(v3.t),
      'webhook-signature': `v1,${forged}`,
    };
    for (const none of ['', [], [''], 'whsec_', ['whsec_', 'whsec_=']]) {
      expect(() => verifyWebhook('{}', service(v3), none, at(v3.t))).toThrow(TypeError);
      expect(() => verifyWebhook('{"id":"evt_1"}', headers, none, at(v3.t))).toThrow(TypeError);
    }
    expect(outcome('{"id":"evt_1"}', headers, ['whsec_', secrets.S1], at(v3.t))).toBe(
      'no_matching_signature',
    );
  });

  it.each(['x-service-event-id', 'webhook-id'])(
    'refuses a %s that is not the id in the signed body: a replay must not pass for another event',
    (name) => {
      const { id } = JSON.parse(bodyOf(v1).toString('utf8')) as { id: string };
      const judged = (given: string) =>
        outcome(bodyOf(v1), { ...service(v1), [name]: given }, secrets.S1, at(v1.t));
      expect([judged(id), judged('evt_other')]).toEqual(['verified', 'malformed_header']);
      expect(outcome('{}', { ...service(v3), [name]: 'evt_other' }, secrets.S1, at(v3.t))).toBe(
        'malformed_header',
      );
    },
  );
});
