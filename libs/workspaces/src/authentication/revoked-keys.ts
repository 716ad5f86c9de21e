import { LRUCache } from 'lru-cache';

import { Injectable } from '@nestjs/common';

/** Far more keys than can be revoked while a row of one is still trusted. */
const REMEMBERED = 10_000;

/**
 * Keys that this process has revoked: in the log, and perhaps not yet in PostgreSQL. A revocation is never undone. A row
 * read before the revocation must not count, even if it arrives later.
 */
@Injectable()
export class RevokedKeys {
  private readonly ids = new LRUCache<string, true>({ max: REMEMBERED });

  add(keyId: string): void {
    this.ids.set(keyId, true);
  }

  has(keyId: string): boolean {
    return this.ids.get(keyId) !== undefined;
  }
}
