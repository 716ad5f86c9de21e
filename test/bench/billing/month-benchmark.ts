import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Benchmark } from '../report.js';
import { serveStore } from './event-store.js';
import { measureMonth } from './month.js';

/** Workspaces whose month is closed. */
const BOOKS = 1_000;

/** The month close of all books on the embedded event store. `--count` is the number of books. */
export const monthBenchmark: Benchmark = {
  name: 'month',
  title: 'The month close',
  explanation: `All books of a month: closed, verified, reconciled with their readings, sealed, and written as an archive.
The embedded event store has a process of its own; the time to fill it does not count.`,
  async run({ count = BOOKS, add }) {
    const folder = mkdtempSync(join(tmpdir(), 'month-bench-'));
    const store = await serveStore(join(folder, 'store'));
    try {
      await measureMonth(store, count, (row) => add({ ...row, floor: '', value: null }));
    } finally {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
