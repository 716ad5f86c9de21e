import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import type { RequestContext } from '#event-sourcing/core/request-context.js';

type Seeded = Pick<RequestContext, 'seed'>;

/**
 * Random bytes for a command. Those of a request with an Idempotency-Key derive from its seed (HKDF with SHA-256, RFC
 * 5869): a repeat draws the same, and meets what the first attempt made.
 * @param purpose names what they are for; different purposes get independent bytes
 */
export const drawBytes = ({ seed }: Seeded, purpose: string, size: number): Buffer =>
  seed ? Buffer.from(hkdfSync('sha256', seed, '', purpose, size)) : randomBytes(size);

/** The same as a version 4 UUID. */
export const drawUuid = (by: Seeded, purpose: string): string => {
  if (!by.seed) return randomUUID();
  const bytes = drawBytes(by, purpose, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
