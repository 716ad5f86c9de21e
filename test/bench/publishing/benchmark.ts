import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { openTypst, PDF_STANDARD } from '#platform/typesetting/typst.js';
import type { Block, DocumentV1, Section } from '#publishing/document/document.js';
import { textsOf } from '#publishing/document/walk.js';
import { FONTS, keptBetween, createTypesetter } from '#publishing/pdf/typesetter.js';
import type { ReadingResult } from '#numerology/index.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import {
  GENDERS,
  LOCALES,
  TRIAL_DAY,
  type Trial,
  trialDocument,
  trialResult,
} from '#publishing/document/testing/trial.js';
import { composeDocument } from '#publishing/document/compose.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { createPdfRenderer } from '#publishing/pdf/renderer.js';
import { atMost, type Benchmark, type Settings, told } from '../report.js';
import { concurrently, quantile } from '../measure.js';

const FOLDER = projectPath('test/bench/publishing');

const paragraphsIn = (nodes: readonly (Block | Section)[]): string[] =>
  nodes.flatMap((node) =>
    node.type === 'section'
      ? [node.title, ...paragraphsIn(node.children)]
      : [textsOf({ title: '', subtitle: '', details: [], children: [node as never] }).join(' ')],
  );

/** Typesets the words of documents without the template. Each block is a paragraph; figures are left out. */
const createPlainTypesetter = () => {
  const compiler = openTypst(FOLDER, FONTS);
  const evict = keptBetween(compiler);
  return {
    typeset: ({ locale, children }: DocumentV1): void => {
      const words = { language: locale.slice(0, 2), paragraphs: paragraphsIn(children) };
      compiler.mapShadow(join(FOLDER, 'words.json'), Buffer.from(JSON.stringify(words)));
      compiler.pdf({ mainFilePath: join(FOLDER, 'plain.typ') }, { pdfStandard: PDF_STANDARD });
      evict();
    },
    forget: () => compiler.evictCache(0),
  };
};

/** Documents rendered by the pool; memory is sampled ten times. */
const DOCUMENTS = 2_000;
/** Documents measured individually. */
const SAMPLES = 300;
const THREADS = 1;
const WARM_UP = 100;

/** The reading of the nth person; languages and genders alternate. */
const trial = (n: number): Trial => ({
  person: randomPerson(n),
  locale: LOCALES[n % 2] ?? 'fr-FR',
  gender: GENDERS[n % 3] ?? 'neutral',
});
const resultOf = (n: number): ReadingResult => trialResult(trial(n));
const documentOf = (n: number): DocumentV1 => trialDocument(trial(n));
const compose = (result: ReadingResult): DocumentV1 =>
  composeDocument(result, { publishedAt: `${TRIAL_DAY}T00:00:00.000Z` });

/** CPU time of this process, threads included, milliseconds. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** CPU time of `work` for each person after the warm-up, milliseconds, ascending. */
const timed = async <T>(prepare: (n: number) => T, work: (input: T) => void): Promise<number[]> => {
  const times: number[] = [];
  for (let n = 0; n < WARM_UP + SAMPLES; n += 1) {
    const input = prepare(n);
    const from = cpu();
    work(input);
    if (n >= WARM_UP) times.push(cpu() - from);
    // Lets Node free buffers of native code.
    await new Promise(setImmediate);
  }
  return times.sort((left, right) => left - right);
};

const measureText = async ({ add }: Settings): Promise<void> => {
  const both = await timed(resultOf, (result) => renderMarkdown(compose(result)));
  add(atMost('document_v1 and Markdown, CPU p50', quantile(both, 0.5), 'ms', 8));
  add(atMost('document_v1 and Markdown, CPU p99', quantile(both, 0.99), 'ms', 20));
  const json = await timed(documentOf, (document) => JSON.parse(JSON.stringify(document)) as unknown);
  add(told('floor: document_v1 written and read as JSON, CPU p50', quantile(json, 0.5), 'ms'));
};

const measurePdf = async ({ add }: Settings): Promise<void> => {
  const typesetter = createTypesetter();
  let largest = 0;
  const times = await timed(documentOf, (document) => {
    largest = Math.max(largest, typesetter.typeset(document).byteLength);
  });
  typesetter.forget();
  add(atMost('PDF, CPU p50', quantile(times, 0.5), 'ms', 90));
  add(atMost('PDF, CPU p99', quantile(times, 0.99), 'ms', 150));
  add(atMost('PDF, largest', largest / 1_000, 'kB', 300));
};

/** What Typst takes for the words alone. */
const measurePlainWords = async ({ add }: Settings): Promise<void> => {
  const plain = createPlainTypesetter();
  const kept = await timed(documentOf, (document) => plain.typeset(document));
  add(
    told(
      'floor: the same words as plain paragraphs, some kept between PDFs, CPU p50',
      quantile(kept, 0.5),
      'ms',
    ),
  );
  const cold = await timed(documentOf, (document) => {
    plain.forget();
    plain.typeset(document);
  });
  plain.forget();
  add(told('floor: the same words as plain paragraphs, nothing kept, CPU p50', quantile(cold, 0.5), 'ms'));
};

const residentMib = (): number => process.memoryUsage.rss() / 2 ** 20;

const measurePool = async ({ count: documents = DOCUMENTS, add, say }: Settings): Promise<void> => {
  const pool = createPdfRenderer(THREADS);
  const resident: number[] = [];
  const tenth = Math.max(1, Math.floor(documents / 10));
  let done = 0;
  await concurrently(THREADS + 1, documents, async (n) => {
    await pool.render(documentOf(n + 1));
    done += 1;
    if (done % tenth !== 0) return;
    resident.push(residentMib());
    say(`  ${done} of ${documents} documents: ${residentMib().toFixed(0)} MiB`);
  });
  const last = residentMib();
  await pool.close();
  createTypesetter().forget();
  // The first documents fill the cache.
  const early = Math.max(...resident.slice(0, 3));
  const late = Math.max(...resident.slice(-3));
  add(atMost(`pool, resident memory after ${documents} documents`, last, 'MiB', 700));
  add(atMost('pool, resident memory of the last three tenths to the first three', late / early, '×', 1.1));
};

/** Measures the cost of a published reading, each for a different person. */
export const publishingBenchmark: Benchmark = {
  name: 'publishing',
  title: 'Publishing',
  explanation: `CPU time on one core of ${SAMPLES} people's documents one by one, and ${DOCUMENTS} through the pool that sets PDFs, with one thread.`,
  async run(settings) {
    // First, because a process never gives all memory back that other measurements used.
    await measurePool(settings);
    await measureText(settings);
    await measurePdf(settings);
    await measurePlainWords(settings);
  },
};
