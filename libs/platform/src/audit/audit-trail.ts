import type { AuditRecord, AuditLoss, AuditRecords } from './audit-records.js';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import type { Clock } from '#event-sourcing/core/clock.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import { within } from '../async/within.js';
import { readGauge } from '../telemetry/metrics.js';

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

/** Records per statement. */
const AT_ONCE = 500;
/** At shutdown, waiting records are written within this time or lost (ms). */
const LAST_WRITE_WITHIN_MS = 1_500;
const UNAUTHENTICATED = 401;
const RATE_LIMITED = 429;

/** How often records are written (ms): a killed process loses those of this interval. */
const WRITE_EVERY_MS = 250;
/**
 * What a process keeps of records: in memory while PostgreSQL is unavailable, of about 500 bytes each; and a minute of each
 * kind of refusal. Beyond that, they are only counted.
 */
const BOUNDS = { waiting: 10_000, refusalsPerMinute: 1_000 };

/**
 * Buffers the audit records of a process in bounded memory until PostgreSQL has them. Writes one batch at a time every
 * {@link WRITE_EVERY_MS}, and retries while PostgreSQL is unavailable. When the buffer is full, requests go unrecorded and
 * are counted (metric, log, `platform.audit_loss`), but no personal data is released (`hasRoom`).
 */
export class AuditTrail {
  private waiting: AuditRecord[] = [];
  /**
   * Separate tallies, so that a flood of one kind hides none of another: what the limits of addresses refuse, guessed
   * credentials, what else anyone can cause, what known callers cause.
   */
  private readonly refusals: Readonly<Record<'limited' | 'unknown' | 'guesses' | 'known', RefusalTally>>;
  private loss: AuditLoss | null = null;
  private writing: Promise<void> | null = null;
  private readonly timer: NodeJS.Timeout;
  private readonly complaints = new Recurring();
  private readonly written: Counter;
  private readonly lost: Counter;
  private readonly counted: Counter;

  constructor(
    private readonly records: Pick<AuditRecords, 'add' | 'addLoss'>,
    private readonly clock: Clock,
    private readonly log: Pick<Logger, 'error'>,
    registry: Registry,
    private readonly bounds = BOUNDS,
  ) {
    const tally = () => new RefusalTally(bounds.refusalsPerMinute);
    this.refusals = { limited: tally(), unknown: tally(), guesses: tally(), known: tally() };
    const counter = (name: string, help: string) => new Counter({ name, help, registers: [registry] });
    this.written = counter('audit_records_written_total', 'Audit records that PostgreSQL has stored');
    this.lost = counter('audit_records_lost_total', 'Requests whose audit record could not be kept');
    this.counted = counter(
      'audit_refusals_counted_total',
      'Refused requests without an audit record of their own, counted in a shared one',
    );
    const waiting = 'Audit records in memory that PostgreSQL has not stored yet';
    readGauge(registry, 'audit_records_waiting', waiting, () => this.waiting.length);
    this.timer = setInterval(() => void this.round(), WRITE_EVERY_MS).unref();
  }

  /** Whether a request that must be recorded may be answered. */
  hasRoom(): boolean {
    return this.waiting.length < this.bounds.waiting;
  }

  /** Records an admitted request; the rate limits bound their number. */
  admitted(record: AuditRecord): void {
    // Requests that must be recorded were admitted while there was room.
    if (record.personal || this.hasRoom()) this.waiting.push(record);
    else this.lose(1);
  }

  /** Records a request that was refused before the rate limit counted it, or by the rate limit. */
  refused(record: AuditRecord): void {
    const { known, guesses, limited, unknown } = this.refusals;
    const tally =
      record.actor !== null
        ? known
        : ({ [UNAUTHENTICATED]: guesses, [RATE_LIMITED]: limited }[record.status] ?? unknown);
    this.endMinute(this.clock.now());
    const own = tally.take(record);
    if (own) this.admitted(own);
    else this.counted.inc();
  }

  /** Writes what waits. Call it once, after the last request. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.endMinute(Infinity);
    // A write that is under way does not take what has come since it began.
    await within(
      LAST_WRITE_WITHIN_MS,
      this.write().then(() => this.write()),
    );
    if (this.unwritten > 0) this.complain(this.unwritten, 'audit records were lost when the process stopped');
  }

  /** The waiting records, and the record of a loss. */
  private get unwritten(): number {
    return this.waiting.length + (this.loss ? 1 : 0);
  }

  private endMinute(now: number): void {
    for (const tally of Object.values(this.refusals)) {
      for (const record of tally.ended(now)) {
        if (this.hasRoom()) this.waiting.push(record);
        else this.lose(record.requests);
      }
    }
  }

  private async round(): Promise<void> {
    this.endMinute(this.clock.now());
    if (this.unwritten > 0) await this.write();
  }

  private write(): Promise<void> {
    this.writing ??= this.writeAll().finally(() => {
      this.writing = null;
    });
    return this.writing;
  }

  /** Runs as many statements as the records that waited at the start need. */
  private async writeAll(): Promise<void> {
    try {
      for (let left = this.waiting.length; left > 0; left -= AT_ONCE) {
        const batch = this.waiting.slice(0, AT_ONCE);
        await this.store(batch);
        this.waiting.splice(0, batch.length);
      }
      if (this.loss) {
        const { loss } = this;
        this.loss = null;
        await this.records.addLoss(loss).catch((error: unknown) => {
          this.note(loss);
          throw error;
        });
      }
    } catch (error) {
      this.complain(this.waiting.length, 'audit records wait for PostgreSQL', error);
    }
  }

  private async store(batch: readonly AuditRecord[]): Promise<void> {
    try {
      await this.records.add(batch);
      this.written.inc(batch.length);
    } catch (error) {
      if (!isFaultOfData(error)) throw error;
      if (batch.length === 1) return this.lose(1, error);
      // One that PostgreSQL rejects must not block the others.
      for (const record of batch) await this.store([record]);
    }
  }

  private lose(requests: number, error?: unknown): void {
    const now = this.clock.now();
    this.note({ since: now, until: now, requests });
    this.lost.inc(requests);
    this.complain(this.loss!.requests, 'requests without an audit record', error);
  }

  private note({ since, until, requests }: AuditLoss): void {
    this.loss = {
      since: Math.min(since, this.loss?.since ?? since),
      until: Math.max(until, this.loss?.until ?? until),
      requests: requests + (this.loss?.requests ?? 0),
    };
  }

  private complain(count: number, message: string, error?: unknown): void {
    if (this.complaints.happened(message) === 0) return;
    this.log.error({ count, reason: error instanceof Error ? error.message : undefined }, message);
  }
}

/** SQLSTATE classes for invalid values, as opposed to a database that cannot write. */
const isFaultOfData = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
};
