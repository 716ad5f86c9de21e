import { Injectable } from '@nestjs/common';
import { RecentlyUsed } from '@app/event-sourcing/handling/recently-used.js';

/** Many more than are revoked while a row of one is still trusted. */
const REMEMBERED = 10_000;

/**
 * Keys that this process knows to be revoked, because it revoked them or was told. A revocation is never undone, so a
 * row that was read before it, and arrives after, must not count.
 */
@Injectable()
export class RevokedKeys {
  private readonly ids = new RecentlyUsed<string, true>(REMEMBERED);

  add(keyId: string): void {
    this.ids.set(keyId, true);
  }

  has(keyId: string): boolean {
    return this.ids.get(keyId) !== undefined;
  }
}
