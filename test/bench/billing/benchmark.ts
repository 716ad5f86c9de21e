import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Benchmark } from '../report.js';
import { serveStore } from './event-store.js';
import { measureHotBook } from './hot-book.js';
import { measureLongBook } from './long-book.js';

/** Events of the long book. */
const EVENTS = 200_000;

/** The credit ledger on the embedded event store: one hot workspace, and one with a long book. */
export const ledgerBenchmark: Benchmark = {
  name: 'ledger',
  title: 'The credit ledger',
  explanation: `The ledger's own commands on the embedded event store, which has a process of its own; callers in other processes.`,
  async run({ seconds, count = EVENTS, add, say }) {
    // The rows that compare memory collect garbage first.
    setFlagsFromString('--expose-gc');
    globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;
    const folder = mkdtempSync(join(tmpdir(), 'billing-bench-'));
    const store = await serveStore(join(folder, 'store'));
    try {
      await measureHotBook(store, seconds, add);
      say(`  A book of ${count} events…`);
      await measureLongBook(store, count, add);
    } finally {
      await store.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
