import { Command, InvalidArgumentError } from 'commander';
import { cpus } from 'node:os';
import type { ReadingResult } from '@app/numerology/index.js';
import { randomPerson } from '@app/publishing/content/random-people.js';
import {
  GENDERS,
  LOCALES,
  TRIAL_DAY,
  type Trial,
  trialDocument,
  trialResult,
} from '@app/publishing/content/trial.js';
import { composeDocument } from '@app/publishing/document/compose.js';
import type { DocumentV1 } from '@app/publishing/document/document.js';
import { renderMarkdown } from '@app/publishing/markdown/render.js';
import { createPdfRenderer } from '@app/publishing/pdf/renderer.js';
import { createTypesetter } from '@app/publishing/pdf/typesetter.js';

const count = (value: string): number => {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a whole number from 1.');
};

const options = new Command('bench-publishing')
  .description(
    'Measures what a published reading costs, each one of another person: CPU of each format, the size of the PDF, and the\n' +
      'memory of the pool that sets PDFs. Prints a Markdown table.',
  )
  .option('--documents <n>', 'documents through the pool, memory read every tenth of them', count, 2_000)
  .option('--samples <n>', 'documents measured one by one', count, 300)
  .option('--threads <n>', 'threads of the pool', count, 1)
  .option('--json', 'print one JSON object')
  .addHelpText(
    'after',
    '\nExamples:\n  node dist/test/bench/publishing/main.js\n  node dist/test/bench/publishing/main.js --documents 400 --json',
  )
  .parse()
  .opts<{ documents: number; samples: number; threads: number; json?: boolean }>();

interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly most: number;
  readonly met: boolean;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const rows: Row[] = [];
const atMost = (what: string, value: number, unit: string, most: number): void => {
  const row = { what, value: Number(value.toPrecision(3)), unit, most, met: value <= most };
  rows.push(row);
  say(`${what}: ${row.value} ${unit} (aim ≤ ${most})`);
};

/** The reading of the nth person; languages and genders take turns. */
const trial = (n: number): Trial => ({
  person: randomPerson(n),
  locale: LOCALES[n % 2] ?? 'fr-FR',
  gender: GENDERS[n % 3] ?? 'neutral',
});
const resultOf = (n: number): ReadingResult => trialResult(trial(n));
const documentOf = (n: number): DocumentV1 => trialDocument(trial(n));
const compose = (result: ReadingResult): DocumentV1 =>
  composeDocument(result, { publishedAt: `${TRIAL_DAY}T00:00:00.000Z` });

/** CPU milliseconds of this process, its threads included. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN;

const WARM_UP = 100;

/** CPU milliseconds of `work` for each person after the warm-up, ascending. */
const timed = async <T>(prepare: (n: number) => T, work: (input: T) => void): Promise<number[]> => {
  const times: number[] = [];
  for (let n = 0; n < WARM_UP + options.samples; n += 1) {
    const input = prepare(n);
    const from = cpu();
    work(input);
    if (n >= WARM_UP) times.push(cpu() - from);
    // Lets Node free what native code handed over.
    await new Promise(setImmediate);
  }
  return times.sort((left, right) => left - right);
};

const measureText = async (): Promise<void> => {
  const document = await timed(resultOf, compose);
  say(`compose: p50 ${quantile(document, 0.5).toFixed(2)} ms, p99 ${quantile(document, 0.99).toFixed(2)} ms`);
  const markdown = await timed(documentOf, renderMarkdown);
  say(
    `Markdown: p50 ${quantile(markdown, 0.5).toFixed(2)} ms, p99 ${quantile(markdown, 0.99).toFixed(2)} ms`,
  );
  const both = await timed(resultOf, (result) => renderMarkdown(compose(result)));
  atMost('document_v1 and Markdown, CPU p50', quantile(both, 0.5), 'ms', 5);
  atMost('document_v1 and Markdown, CPU p99', quantile(both, 0.99), 'ms', 20);
};

const measurePdf = async (): Promise<void> => {
  const typesetter = createTypesetter();
  let largest = 0;
  const times = await timed(documentOf, (document) => {
    largest = Math.max(largest, typesetter.typeset(document).byteLength);
  });
  typesetter.forget();
  atMost('PDF, CPU p50', quantile(times, 0.5), 'ms', 60);
  atMost('PDF, CPU p99', quantile(times, 0.99), 'ms', 150);
  atMost('PDF, largest', largest / 1_000, 'kB', 250);
};

const residentMib = (): number => process.memoryUsage.rss() / 2 ** 20;

const measurePool = async (): Promise<void> => {
  const { documents, threads } = options;
  const pool = createPdfRenderer({ threads });
  const resident: number[] = [];
  const tenth = Math.max(1, Math.floor(documents / 10));
  let next = 0;
  let done = 0;
  const caller = async (): Promise<void> => {
    while (next < documents) {
      next += 1;
      await pool.render(documentOf(next));
      done += 1;
      if (done % tenth !== 0) continue;
      resident.push(residentMib());
      say(`${done} of ${documents} documents: ${residentMib().toFixed(0)} MiB`);
    }
  };
  await Promise.all(Array.from({ length: threads + 1 }, caller));
  await pool.close();
  // The first fifth fills what is kept between documents.
  const early = Math.max(...resident.slice(0, 3));
  const late = Math.max(...resident.slice(-3));
  atMost(`pool, resident memory after ${documents} documents`, residentMib(), 'MiB', 700);
  atMost('pool, resident memory of the last three tenths to the first three', late / early, '×', 1.1);
};

const markdown = (): string => `| what | measured | aim | met |
|---|---|---|---|
${rows.map(({ what, value, unit, most, met }) => `| ${what} | **${value} ${unit}** | ≤ ${most} ${unit} | ${met ? 'yes' : 'no'} |`).join('\n')}

${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}, Node ${process.version}; ${options.samples} people, then ${options.documents} through a pool of ${options.threads}.
`;

await measureText();
await measurePdf();
await measurePool();
process.stdout.write(options.json ? `${JSON.stringify(rows)}\n` : markdown());
