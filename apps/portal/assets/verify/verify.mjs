import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(rawBody, header, secret, now = Date.now() / 1000) {
  const fields = String(header)
    .split(',')
    .map((field) => field.split('=', 2));
  const timestamp = fields.find(([name]) => name === 't')?.[1];
  if (!secret || !/^\d{1,12}$/.test(timestamp) || Math.abs(now - timestamp) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest();
  return fields
    .filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value))
    .some(([, value]) => timingSafeEqual(Buffer.from(value, 'hex'), expected));
}
