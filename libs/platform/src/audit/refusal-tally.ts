import type { AuditRecord } from './audit-records.js';

const WINDOW_MS = 60_000;
/** Refusals of one sender per minute that get a record each. */
const OWN_RECORDS = 10;
/** All records of one sender per minute: its individual ones, and then one for each of a few statuses. */
const RECORDS_OF_SENDER = 14;
const SEVERAL = '*';

/**
 * Bounds the records of refused requests, which no rate limit covers. The first ones of a sender in a minute get a
 * record each; the others are counted by sender and status. The mix of a sender's requests does not add records, so
 * only many senders can reach `limit`. Beyond `limit`, requests are counted by route and status alone. A sender is a
 * credential, or otherwise an address.
 */
export class RefusalTally {
  private window = 0;
  private spent = 0;
  private readonly seen = new Map<string, number>();
  private readonly counted = new Map<string, AuditRecord>();

  /** @param limit records per minute, in addition to one for each route and status */
  constructor(private readonly limit: number) {}

  /** The record to keep now, or `null` when the request is only counted. */
  take(record: AuditRecord): AuditRecord | null {
    const { actor, address, route, status } = record;
    const sender = actor ?? address ?? '';
    if (!this.isSpent(sender, OWN_RECORDS)) {
      this.spend(sender);
      return record;
    }
    const own = `${sender} ${status}`;
    if (!this.counted.has(own) && this.isSpent(sender, RECORDS_OF_SENDER)) {
      this.count(`${SEVERAL} ${route} ${status}`, {
        ...record,
        workspaceId: null,
        actor: null,
        address: null,
      });
    } else {
      if (!this.counted.has(own)) this.spend(sender);
      this.count(own, record);
    }
    return null;
  }

  /** The counts of earlier minutes. @param now milliseconds since the epoch; infinity: all counts */
  ended(now: number): readonly AuditRecord[] {
    const window = Math.floor(now / WINDOW_MS);
    if (window === this.window) return [];
    this.window = window;
    this.spent = 0;
    this.seen.clear();
    const records = [...this.counted.values()];
    this.counted.clear();
    return records;
  }

  private isSpent(sender: string, most: number): boolean {
    return this.spent >= this.limit || (this.seen.get(sender) ?? 0) >= most;
  }

  private spend(sender: string): void {
    this.seen.set(sender, (this.seen.get(sender) ?? 0) + 1);
    this.spent += 1;
  }

  private count(key: string, record: AuditRecord): void {
    const before = this.counted.get(key);
    this.counted.set(key, before ? together(before, record) : { ...record, readingId: null });
  }
}

/** The last of several requests, reduced to what they share. */
const together = (before: AuditRecord, last: AuditRecord): AuditRecord => ({
  ...last,
  requests: before.requests + last.requests,
  method: before.method === last.method ? last.method : SEVERAL,
  route: before.route === last.route ? last.route : SEVERAL,
  address: before.address === last.address ? last.address : null,
  readingId: null,
});
