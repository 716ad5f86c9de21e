import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the signature's time may lie from ours, either way. */
const TOLERANCE_S = 300;

/**
 * What a receiver does before it believes a webhook: `x-service-signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]`,
 * each `v1` an HMAC-SHA-256 of `{t}.{rawBody}` under the whole signing secret. During a rotation there are several.
 * @param nowMs Unix time in milliseconds
 */
export const verifySignature = (
  secret: string,
  header: string | undefined,
  rawBody: Buffer,
  nowMs: number,
): boolean => {
  const parts = (header ?? '').split(',').map((part) => part.split('=', 2) as [string, string?]);
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d+$/.test(timestamp) || Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest();
  return parts.some(([name, value]) => name === 'v1' && sameBytes(Buffer.from(value ?? '', 'hex'), expected));
};

const sameBytes = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);
