import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { Loaded } from '@app/event-sourcing/handling/folded.js';
import type { ReadOptions } from '@app/event-sourcing/store/event-store.js';
import { intercept } from '@app/event-sourcing/testing/intercepted-store.js';
import { Digester } from '@app/platform/crypto/digest.js';
import { freshDatabase } from '../../../test/support/fresh-database.js';
import { STREAM, WS } from '../test/book.js';
import { bookClosedInParts, fillMonth, type CrowdedBook } from '../test/crowded-book.js';
import { BookSnapshots } from './book-snapshots.js';
import { VerifyLedgerHandler } from './application/audit/verify-ledger.handler.js';
import { VerifyLedger } from './contracts/index.js';
import { createCreditsExecutor } from './credits.executor.js';
import type { Credits } from './domain/credits/credits.state.js';
import { OPERATORS } from '../test/operators.js';

const BOUND_MS = 10_000;
/** What a search for the last close reads before anybody asks for a snapshot. */
const SEARCH = 10_001;

let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let pool: pg.Pool;
let book: CrowdedBook;
let said: string[] = [];
/** The look of the process that kept the snapshot. */
let first: Awaited<ReturnType<typeof look>>;
beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 2 });
  // Stopping the server ends connections that the pool is about to end itself.
  pool.on('error', () => undefined);
  book = await bookClosedInParts();
  await fillMonth(book.process());
  first = await look();
  await pool.query('create table billing.book_snapshot_before as table billing.book_snapshot');
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});
beforeEach(async () => {
  said = [];
  await pool.query('truncate billing.book_snapshot');
  await pool.query('insert into billing.book_snapshot table billing.book_snapshot_before');
});

const log = { warn: (_: object, message: string) => void said.push(message) };
const snapshotsIn = (database: Pick<pg.Pool, 'query'>, keyByte = 1) =>
  new BookSnapshots(database, new Digester(Buffer.alloc(32, keyByte).toString('base64')), log);

/** A process that has nothing in memory looks at the book. @returns its state, and how many events it read */
const look = async (snapshots = snapshotsIn(pool), seen = (event: StoredEvent) => event) => {
  let events = 0;
  const store = intercept(book.store, {
    async *read(stream: string, options?: ReadOptions) {
      for await (const event of book.store.read(stream, options)) {
        events += 1;
        yield seen(event);
      }
    },
  });
  const kept: Promise<void>[] = [];
  const { state, revision } = await createCreditsExecutor(store, BOUND_MS, {
    every: snapshots.every,
    find: (stream) => snapshots.find(stream),
    keep: (...given) => void kept.push(snapshots.keep(...given)) as never,
  }).load(WS);
  await Promise.all(kept);
  return { state, revision, events, kept: kept.length };
};

const row = async () =>
  (await pool.query<{ stream: string; fold: number; taken_at: Date }>('select * from billing.book_snapshot'))
    .rows;

describe('the snapshot of a book with thousands of entries in its open month', () => {
  it('is kept by the first process that reads it, and spares the next one the month', async () => {
    expect(first).toMatchObject({ kept: 1 });
    expect(first.events).toBeGreaterThan(2 * SEARCH);
    expect(await row()).toMatchObject([{ stream: STREAM, fold: 1 }]);
    const next = await look();
    expect(next).toEqual({ ...first, events: SEARCH + 1, kept: 0 });
  });

  const NOT_OURS = 'this service did not write the snapshot of a book, or with another key';
  it.each([
    ['somebody has changed it', "update billing.book_snapshot set body = body || ' '::bytea", NOT_OURS],
    ['its MAC is cut', 'update billing.book_snapshot set mac = substr(mac, 1, 8)', NOT_OURS],
    ['another version of the fold made it', 'update billing.book_snapshot set fold = 0', null],
    [
      'the table is gone',
      'alter table billing.book_snapshot rename to elsewhere',
      'the snapshot of a book could not be read',
    ],
  ])('does not count when %s', async (what, change, warning) => {
    await pool.query(change);
    try {
      expect(await snapshotsIn(pool).find(STREAM)).toBeNull();
      expect(said).toEqual(warning === null ? [] : [warning]);
    } finally {
      if (what === 'the table is gone')
        await pool.query('alter table billing.elsewhere rename to book_snapshot');
    }
  });

  it('does not count when somebody has put that of another book in its place', async () => {
    const snapshots = snapshotsIn(pool);
    await snapshots.keep('credits-another', (await snapshots.find(STREAM))!);
    await pool.query('delete from billing.book_snapshot where stream = $1', [STREAM]);
    await pool.query('update billing.book_snapshot set stream = $1', [STREAM]);
    expect(await snapshots.find(STREAM)).toBeNull();
    expect(said).toEqual([NOT_OURS]);
  });

  it('does not count for a service with another key', async () => {
    expect(await snapshotsIn(pool, 2).find(STREAM)).toBeNull();
    expect(said).toEqual([NOT_OURS]);
  });

  it('does not count when the event store was set back, and the book has gone on otherwise', async () => {
    const otherwise = (event: StoredEvent) =>
      event.revision === first.revision
        ? { ...event, metadata: { ...event.metadata, chain: 'other' } }
        : event;
    // The look at the event that the snapshot should end with is one more.
    expect(await look(snapshotsIn(pool), otherwise)).toMatchObject({ events: first.events + 1, kept: 1 });
  });

  it('of a newer program stays, while both run', async () => {
    const snapshots = snapshotsIn(pool);
    const own = (await snapshots.find(STREAM))!;
    await pool.query('update billing.book_snapshot set fold = 99');
    await snapshots.keep(STREAM, own);
    expect(await row()).toMatchObject([{ fold: 99 }]);
  });

  it('goes on with what came since', async () => {
    const before = book.events.length;
    await book.process().buy('later');
    const { state, revision, events } = await look();
    expect(events).toBe(SEARCH + 1 + book.events.length - before);
    expect(revision).toBe(BigInt(book.events.length - 1));
    expect(state).toEqual(await book.process().current());
  });
});

describe.each<[string, string | null]>([
  ['every book', null],
  ['one book', WS],
])('ledger verify of %s', (_, asked) => {
  const verify = (snapshots = snapshotsIn(pool)) =>
    new VerifyLedgerHandler(book.store, { CLOCK_REFUSE_MS: BOUND_MS, OPERATORS }, snapshots).execute(
      new VerifyLedger(asked),
    );
  const COMPARED = { foreign: [], problem: null };
  /** Puts another snapshot in the place of the right one, as a program with a defect in its fold would. */
  const keep = async (change: (right: Loaded<Credits>) => Partial<Loaded<Credits>>) => {
    const right = (await snapshotsIn(pool).find(STREAM))!;
    await snapshotsIn(pool).keep(STREAM, { ...right, ...change(right) });
  };
  const richer = ({ state }: Loaded<Credits>) => ({
    state: { ...state, grants: state.grants.map((one) => ({ ...one, remaining: one.remaining + 1 })) },
  });

  it('finds a snapshot right that was folded from the last close alone', async () => {
    expect(await verify()).toMatchObject({ books: [{ findings: [] }], snapshots: COMPARED });
  });

  it('finds a snapshot that makes another book than the entries do, at the entry where it was taken', async () => {
    await keep(richer);
    const findings = [{ check: 'snapshot', revision: first.revision }];
    expect(await verify()).toMatchObject({ books: [{ findings }], snapshots: COMPARED });
  });

  it('finds nothing in one that nobody uses, since the event store was set back', async () => {
    await keep((right) => ({ ...richer(right), chain: 'of the entry that was there before' }));
    expect(await verify()).toMatchObject({ books: [{ findings: [] }], snapshots: COMPARED });
  });

  it('names one that this service did not write', async () => {
    const snapshots = { foreign: [WS], problem: null };
    expect(await verify(snapshotsIn(pool, 2))).toMatchObject({ books: [{ findings: [] }], snapshots });
  });

  it('reads the entries without PostgreSQL, and says that it compared nothing', async () => {
    const gone = { query: () => Promise.reject(new Error('PostgreSQL is gone')) };
    const snapshots = { foreign: [], problem: 'Error: PostgreSQL is gone' };
    expect(await verify(snapshotsIn(gone))).toMatchObject({ books: [{ findings: [] }], snapshots });
  });
});
