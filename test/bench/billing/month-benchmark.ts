import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startStores } from '../../support/start-processes.js';
import type { Benchmark } from '../report.js';
import { connect } from './books.js';
import { fillMonth } from './month-books.js';
import { measureMonth } from './month.js';

/** Workspaces whose month is closed. */
const BOOKS = 1_000;

/** The month (UTC) that ended last, `yyyy-mm`. */
const lastMonth = (): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString().slice(0, 7);
};

/** The commands that read all books, on the embedded stores. `--count` is the number of books. */
export const monthBenchmark: Benchmark = {
  name: 'month',
  title: 'The month close',
  explanation: `The operator's commands on all books. Each book has 1,000 events, and its 499 readings have 998 more, in one log.
The embedded stores have processes of their own; the time to fill them does not count.`,
  async run({ count = BOOKS, add, say }) {
    const folder = mkdtempSync(join(tmpdir(), 'month-bench-'));
    const stores = await startStores({});
    const pool = new pg.Pool({ connectionString: stores.databaseUrl });
    const store = await connect(stores.eventStoreUrl);
    try {
      const period = lastMonth();
      say(`  Filling ${count} books…`);
      await fillMonth(store, pool, count, period);
      await measureMonth(stores, pool, { books: count, period, folder }, add);
    } finally {
      await store.close();
      await pool.end();
      await stores.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
