import { createHmac } from 'node:crypto';
import { VERIFICATION_NOTICE, isNotice } from '../contracts/index.js';

const SECRET_PREFIX = 'whsec_';
/** Random bytes of a secret. A multiple of three, so that their base64 has no padding. */
export const SECRET_BYTES = 33;

/** `whsec_` and base64. Shown to the owner once. */
export const formatSecret = (random: Uint8Array): string =>
  SECRET_PREFIX + Buffer.from(random).toString('base64');

interface SignedDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: string;
  readonly attempt: number;
  readonly test: boolean;
  readonly redelivery: boolean;
  readonly body: Uint8Array;
  /** In force at `timestamp`, newest first. */
  readonly secrets: readonly string[];
  /** Unix seconds of the attempt. */
  readonly timestamp: number;
}

const isNoticeHeader = (type: string): boolean => type === VERIFICATION_NOTICE || isNotice(type);

/** The headers of one attempt, signed at its own time. */
export const signedHeaders = (delivery: SignedDelivery): Readonly<Record<string, string>> => {
  const { deliveryId, eventId, type, attempt, test, redelivery, body, secrets, timestamp } = delivery;
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'reading-service-webhooks/1',
    [isNoticeHeader(type) ? 'x-service-notice' : 'x-service-event']: type,
    'x-service-timestamp': String(timestamp),
    'x-service-signature': serviceSignature(secrets, timestamp, body),
    'x-service-event-id': eventId,
    'x-service-delivery-id': deliveryId,
    'x-service-attempt': String(attempt),
    ...(test ? { 'x-service-test': 'true' } : {}),
    ...(redelivery ? { 'x-service-redelivery': 'true' } : {}),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(secrets, eventId, timestamp, body),
  };
};

/**
 * `x-service-signature`: `t=<unix seconds>,v1=<hex>` with one `v1` for each secret in force, the newest first. HMAC-SHA256
 * over `<t>.<raw body>`, keyed with the UTF-8 of the whole secret, prefix included.
 */
export const serviceSignature = (secrets: readonly string[], timestamp: number, body: Uint8Array): string => {
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`,
  );
  return [`t=${timestamp}`, ...signatures].join(',');
};

/**
 * `webhook-signature` of Standard Webhooks 1.0: space-separated `v1,<base64>`, HMAC-SHA256 over `<id>.<t>.<raw body>`,
 * keyed with the base64-decoded part of the secret.
 */
export const standardSignature = (
  secrets: readonly string[],
  messageId: string,
  timestamp: number,
  body: Uint8Array,
): string =>
  secrets
    .map((secret) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))
    .map((key) =>
      createHmac('sha256', key).update(`${messageId}.${timestamp}.`).update(body).digest('base64'),
    )
    .map((signature) => `v1,${signature}`)
    .join(' ');
