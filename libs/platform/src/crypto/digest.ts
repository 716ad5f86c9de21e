import { createHmac } from 'node:crypto';

/** Keyed digests of possibly personal data: without the key, nobody can match them against a list of names. */
export class Digester {
  private readonly key: Buffer;

  constructor(base64Key: string) {
    this.key = Buffer.from(base64Key, 'base64');
  }

  /** HMAC-SHA-256 of the parts under a purpose; digests for different purposes are not comparable. */
  digest(purpose: string, ...parts: readonly string[]): Buffer {
    const hmac = createHmac('sha256', this.key).update(purpose);
    for (const part of parts) hmac.update('\u0000').update(part);
    return hmac.digest();
  }
}
