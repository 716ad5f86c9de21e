import { Argument, Command } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { projectPath } from '#platform/project-path.js';
import { ledgerBenchmark } from './billing/ledger.js';
import { monthBenchmark } from './billing/month.js';
import { crudBenchmark } from './crud/benchmark.js';
import { eventStoreBenchmark } from './event-store/benchmark.js';
import { numerologyBenchmark } from './numerology/benchmark.js';
import { projectionsBenchmark } from './projections/benchmark.js';
import { publishingBenchmark } from './publishing/benchmark.js';
import { markdownSection, withSection, type Benchmark, type Row } from './report.js';
import { serviceBenchmark } from './service/benchmark.js';
import { webhooksBenchmark } from './webhooks/benchmark.js';

const BENCHMARKS: readonly Benchmark[] = [
  serviceBenchmark,
  crudBenchmark,
  numerologyBenchmark,
  publishingBenchmark,
  ledgerBenchmark,
  monthBenchmark,
  webhooksBenchmark,
  projectionsBenchmark,
  eventStoreBenchmark,
];

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is not a whole number above 0.`);
  return Number(text);
};

const command = new Command('bench')
  .description('Measures the parts of the service against floors of the same run.')
  .addArgument(
    new Argument('[names...]', 'what is measured; everything by default').choices(
      BENCHMARKS.map(({ name }) => name),
    ),
  )
  .option('--seconds <n>', 'length of each load', wholeNumber, 5)
  .option('--count <n>', 'readings, documents or events where a benchmark counts them', wholeNumber)
  .option(
    '--history <n>',
    'settled deliveries of a long history (webhooks; 10000000 takes ten minutes)',
    wholeNumber,
  )
  .option('--write', 'write the sections into docs/benchmarks.md')
  .addHelpText(
    'after',
    `
Examples:
  npm run bench
  npm run bench -- event-store --count 100000
  npm run bench -- webhooks --history 10000000
  npm run bench -- service --seconds 8 --write`,
  )
  .parse();
const options = command.opts<{
  seconds: number;
  count?: number;
  history?: number;
  write?: boolean;
}>();
const chosen = BENCHMARKS.filter(({ name }) => command.args.length === 0 || command.args.includes(name));

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** No step takes longer (minutes), but filling a history of deliveries. */
const STEP_MINUTES = options.history === undefined ? 15 : 60;

const measure = async (benchmark: Benchmark): Promise<Row[]> => {
  const rows: Row[] = [];
  let last = '';
  const hangs = setTimeout(() => {
    say(`${benchmark.name} hangs: nothing for ${STEP_MINUTES} minutes after "${last.trim()}".`);
    process.exit(1);
  }, STEP_MINUTES * 60_000);
  const step = (text: string): void => {
    last = text;
    hangs.refresh();
    say(text);
  };
  step(`${benchmark.title}…\n${benchmark.explanation}`);
  await benchmark.run({
    seconds: options.seconds,
    count: options.count,
    history: options.history,
    say: step,
    add: (row) => {
      rows.push(row);
      step(`  ${row.what}: ${row.measured} ${row.aim && `(${row.aim})`}`);
    },
  });
  clearTimeout(hangs);
  return rows;
};

/** Runs in a separate process, so that no benchmark is affected by the memory of another. */
const measureApart = async ({ name }: Benchmark): Promise<void> => {
  const given = process.argv.slice(2).filter((word) => !command.args.includes(word));
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), name, ...given], {
    stdio: 'inherit',
  });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`The benchmark ${name} failed.`);
};

if (chosen.length > 1) for (const benchmark of chosen) await measureApart(benchmark);
else {
  const [benchmark] = chosen as [Benchmark];
  const section = markdownSection(benchmark, await measure(benchmark));
  process.stdout.write(section);
  if (options.write) {
    const page = projectPath('docs/benchmarks.md');
    const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
    writeFileSync(page, withSection(text, benchmark.title, section));
  }
  // Exits even when a benchmark left something open, such as a client that waits for its streams.
  process.exit(0);
}
