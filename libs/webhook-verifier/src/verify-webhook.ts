import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookVerificationError } from './verification-error.js';
import type { WebhookBody } from './webhook-event.js';

/** Headers as Node, Express, Fastify or fetch provide them; names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Maximum difference between the signature's time and the clock, in either direction. Default 300. */
  readonly toleranceSeconds?: number;
  /** Current time, milliseconds since 1970. Default: the system clock. */
  readonly now?: number;
}

const SECRET_PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;
/** Not all signatures cover them. Who recognises repeats by one must not take a replay for another event. */
const ID_HEADERS = ['x-service-event-id', 'webhook-id'] as const;

/** The timestamp and signatures of a webhook, and how to compute the expected signature. */
interface Claim {
  /** Unix seconds, as signed. */
  readonly timestamp: string;
  readonly signatures: readonly Buffer[];
  readonly sign: (secret: string, body: Uint8Array) => Buffer;
}

/**
 * Verifies a webhook and returns its event, or its notice: `type` tells. Compares in constant time.
 *
 * @param rawBody the body as received, before any JSON parser: the same JSON in other bytes does not verify
 * @param headers of the request: `x-service-signature`, or `webhook-id`, `webhook-timestamp` and
 *   `webhook-signature`
 * @param secrets the endpoint's `signingSecret`; during a rotation the new and the old one; one must match
 * @throws WebhookVerificationError when the webhook must not be trusted
 */
export const verifyWebhook = (
  rawBody: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): WebhookBody => {
  const keys = [secrets].flat().filter((secret) => decoded(secret).length > 0);
  if (keys.length === 0) throw new TypeError('No signing secret was given');
  const body = typeof rawBody === 'string' ? Buffer.from(rawBody, 'utf8') : rawBody;
  const claim = serviceClaim(headers) ?? standardClaim(headers);
  if (!claim) throw new WebhookVerificationError('missing_header', 'The request has no signature');
  if (!(Math.abs(now / 1_000 - Number(claim.timestamp)) <= toleranceSeconds)) {
    throw new WebhookVerificationError(
      'timestamp_out_of_tolerance',
      `The timestamp differs from the clock by more than ${toleranceSeconds} seconds`,
    );
  }
  const expected = keys.map((secret) => claim.sign(secret, body));
  if (!expected.some((one) => claim.signatures.some((given) => isEqual(one, given)))) {
    throw new WebhookVerificationError('no_matching_signature', 'No signature matches the body and secret');
  }
  const event = parse(body);
  for (const name of ID_HEADERS) {
    const id = headerOf(headers, name);
    if (id !== null && id !== event.id)
      throw new WebhookVerificationError('malformed_header', `${name} is not the id in the body`);
  }
  return event;
};

/** `x-service-signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]`; the key is the whole secret in UTF-8. */
const serviceClaim = (headers: WebhookHeaders): Claim | null => {
  const header = headerOf(headers, 'x-service-signature');
  if (header === null) return null;
  const fields = header.split(',').map((field) => {
    const [name = '', value = ''] = field.split('=', 2);
    return { name: name.trim(), value: value.trim() };
  });
  const timestamp = requireTimestamp(fields.find(({ name }) => name === 't')?.value);
  const signatures = fields
    .filter(({ name, value }) => name === 'v1' && /^[0-9a-f]{64}$/.test(value))
    .map(({ value }) => Buffer.from(value, 'hex'));
  return {
    timestamp,
    signatures,
    sign: (secret, body) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest(),
  };
};

/**
 * Standard Webhooks 1.0: `webhook-signature: v1,<base64>[ v1,<base64>]`; the key is the decoded part of the
 * secret.
 */
const standardClaim = (headers: WebhookHeaders): Claim | null => {
  const header = headerOf(headers, 'webhook-signature');
  const id = headerOf(headers, 'webhook-id');
  if (header === null || id === null) return null;
  const timestamp = requireTimestamp(headerOf(headers, 'webhook-timestamp') ?? undefined);
  const signatures = header
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'));
  return {
    timestamp,
    signatures,
    sign: (secret, body) =>
      createHmac('sha256', decoded(secret)).update(`${id}.${timestamp}.`).update(body).digest(),
  };
};

/** Empty for a secret that anybody knows, such as the prefix alone. */
const decoded = (secret: string): Buffer => Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');

const headerOf = (headers: WebhookHeaders, name: string): string | null => {
  if (typeof headers.get === 'function') return headers.get(name);
  const record = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const key = name in record ? name : Object.keys(record).find((known) => known.toLowerCase() === name);
  const value = key === undefined ? undefined : record[key];
  return value === undefined ? null : [value].flat().join(',');
};

const requireTimestamp = (text: string | undefined): string => {
  if (text !== undefined && /^\d{1,12}$/.test(text)) return text;
  throw new WebhookVerificationError('malformed_header', 'The signature has no valid timestamp');
};

const isEqual = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

const parse = (body: Uint8Array): WebhookBody => {
  try {
    const event = JSON.parse(Buffer.from(body).toString('utf8')) as unknown;
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event as WebhookBody;
  } catch {
    // Handled below.
  }
  throw new WebhookVerificationError('malformed_body', 'The body is not a JSON object');
};
