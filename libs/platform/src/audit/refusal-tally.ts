import type { AuditRecord } from './audit-record.js';

const WINDOW_MS = 60_000;
/** Refusals of one sender that have a record each, a minute. */
const OWN_RECORDS = 10;

/**
 * Bounds what refused requests write, which no rate limits: the first of a sender in a minute have a record each, the
 * others are counted by sender, route and status, and once `limit` records are spent, by route and status alone.
 */
export class RefusalTally {
  private window = 0;
  private spent = 0;
  private readonly seen = new Map<string, number>();
  private readonly counted = new Map<string, AuditRecord>();

  /** @param limit records a minute, besides one for each route and status */
  constructor(private readonly limit: number) {}

  /** The record to be kept now, or `null` when the request is only counted. */
  take(record: AuditRecord): AuditRecord | null {
    const sender = `${record.actor ?? ''} ${record.address ?? ''}`;
    const before = this.seen.get(sender) ?? 0;
    if (before < OWN_RECORDS && this.spent < this.limit) {
      this.seen.set(sender, before + 1);
      this.spent += 1;
      return record;
    }
    const { method, route, status } = record;
    const own = `${sender} ${method} ${route} ${status}`;
    const room = this.counted.has(own) || this.spent < this.limit;
    if (room && !this.counted.has(own)) this.spent += 1;
    const key = room ? own : `${route} ${status}`;
    const nobody = { method: '*', workspaceId: null, actor: null, address: null };
    const requests = (this.counted.get(key)?.requests ?? 0) + 1;
    this.counted.set(key, { ...record, ...(room ? {} : nobody), readingId: null, requests });
    return null;
  }

  get isCounting(): boolean {
    return this.counted.size > 0;
  }

  /** What was counted in the minutes before this one. @param now milliseconds since the epoch; infinity: everything */
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
}
