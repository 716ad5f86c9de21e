import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { describe } from '@app/event-sourcing/projections/describe-error.js';
import type { Snapshots } from '@app/event-sourcing/handling/snapshots.js';
import type { Loaded } from '@app/event-sourcing/handling/folded.js';
import type { Digester } from '@app/platform/crypto/digest.js';
import { FOLD_VERSION, type Credits } from './domain/credits/credits.state.js';

/** A book with very many open holds is folded from its events instead. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Snapshots of credit books in PostgreSQL (ADR 0037). Whoever can write there cannot make one that counts: each has a
 * MAC, and continues the hash chain of its book. A program with another fold makes its own.
 */
export class BookSnapshots implements Snapshots<Credits> {
  readonly every = 10_000n;

  constructor(
    private readonly pool: Pick<pg.Pool, 'query'>,
    private readonly digester: Digester,
    private readonly log: { warn(details: object, message: string): void },
  ) {}

  async find(stream: string): Promise<Loaded<Credits> | null> {
    try {
      const found = await this.read(stream);
      if (found !== 'foreign') return found;
      this.log.warn({ stream }, 'this service did not write the snapshot of a book, or with another key');
    } catch (error) {
      this.log.warn({ stream, reason: describe(error) }, 'the snapshot of a book could not be read');
    }
    return null;
  }

  /**
   * @returns `foreign`: this service did not write it, or with another key; `null`: this program's fold has none
   * @throws Error when PostgreSQL does not answer
   */
  async read(stream: string): Promise<Loaded<Credits> | 'foreign' | null> {
    const { rows } = await this.pool.query<{ body: Buffer; mac: Buffer }>(
      'select body, mac from billing.book_snapshot where stream = $1 and fold = $2',
      [stream, FOLD_VERSION],
    );
    const [row] = rows;
    if (!row) return null;
    const body = row.body.toString();
    const mac = this.macOf(stream, body);
    return mac.length === row.mac.length && timingSafeEqual(mac, row.mac) ? fromBody(body) : 'foreign';
  }

  /**
   * The books that this program's fold has snapshots of.
   * @throws Error when PostgreSQL does not answer
   */
  async streams(): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ stream: string }>(
      'select stream from billing.book_snapshot where fold = $1 order by stream',
      [FOLD_VERSION],
    );
    return rows.map(({ stream }) => stream);
  }

  async keep(stream: string, loaded: Loaded<Credits>): Promise<void> {
    const body = toBody(loaded);
    if (body.length > MOST_BYTES) return;
    try {
      // During a roll-out, programs of both versions run: the newer fold stays.
      await this.pool.query(
        `insert into billing.book_snapshot as kept (stream, fold, body, mac, taken_at) values ($1, $2, $3, $4, now())
         on conflict (stream) do update
         set fold = excluded.fold, body = excluded.body, mac = excluded.mac, taken_at = excluded.taken_at
         where kept.fold <= excluded.fold`,
        [stream, FOLD_VERSION, Buffer.from(body), this.macOf(stream, body)],
      );
    } catch (error) {
      this.log.warn({ stream, reason: describe(error) }, 'the snapshot of a book was not kept');
    }
  }

  private macOf(stream: string, body: string): Buffer {
    return this.digester.digest('book snapshot', stream, String(FOLD_VERSION), body);
  }
}

/** The book as JSON: it consists of plain objects, lists, texts and numbers. */
export const toBody = ({ revision, since: _, ...loaded }: Loaded<Credits>): string =>
  JSON.stringify({ ...loaded, revision: String(revision) });

export const fromBody = (body: string): Loaded<Credits> => {
  const { revision, last, ...loaded } = JSON.parse(body) as Stored;
  return {
    ...loaded,
    revision: BigInt(revision),
    since: BigInt(revision),
    // JSON has no Infinity: the store has not told the time of an event that this process appended.
    last: last && { ...last, recordedAt: last.recordedAt ?? Infinity },
  };
};

interface Stored extends Omit<Loaded<Credits>, 'revision' | 'since' | 'last'> {
  readonly revision: string;
  readonly last: { readonly occurredAt: number; readonly recordedAt: number | null } | null;
}
