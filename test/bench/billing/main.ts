import { Command } from 'commander';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { serveStore } from './event-store.js';
import { measureHotBook } from './hot-book.js';
import { measureLongBook } from './long-book.js';
import type { Row } from './row.js';

const options = new Command('bench-billing')
  .description('Measures the credit ledger on the embedded event store and prints a Markdown table.')
  .option('--seconds <n>', 'length of each load', Number, 5)
  .option('--events <n>', 'events of the long book', Number, 200_000)
  .option('--only <part>', 'hot or long')
  .option('--json', 'print one JSON object')
  .addHelpText('after', '\nExample:\n  node dist/test/bench/billing/main.js --seconds 8')
  .parse()
  .opts<{ seconds: number; events: number; only?: string; json?: boolean }>();

// For the rows that compare memory: without a collection they would compare garbage.
setFlagsFromString('--expose-gc');
globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;

const rows: Row[] = [];
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const add = (row: Row): void => {
  rows.push(row);
  say(`${row.what}: ${row.measured} (${row.aim})`);
};

const markdown = (): string => `| what | measured | aim | met |
|---|---|---|---|
${rows.map(({ what, measured, aim, met }) => `| ${what} | ${measured} | ${aim} | ${met ? 'yes' : 'no'} |`).join('\n')}

${String(cpus().length)} × ${cpus()[0]?.model.trim() ?? 'CPU'}, Node ${process.version}, the embedded event store and its callers on the same cores, ${String(options.seconds)} s a load.
`;

const folder = mkdtempSync(join(tmpdir(), 'billing-bench-'));
const store = await serveStore(join(folder, 'store'));
try {
  if (options.only !== 'long') {
    say('One hot workspace…');
    await measureHotBook(store, options.seconds, add);
  }
  if (options.only !== 'hot') {
    say(`A book of ${String(options.events)} events…`);
    await measureLongBook(store, options.events, add);
  }
  process.stdout.write(options.json ? `${JSON.stringify(rows)}\n` : markdown());
} finally {
  await store.stop();
  rmSync(folder, { recursive: true, force: true });
}
