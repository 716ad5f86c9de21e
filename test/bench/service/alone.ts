import { documentPublisher } from '#publishing/contracts/index.js';
import { themeCalculator } from '#readings/application/generate-reading.js';
import type { ReadingResult } from '#numerology/index.js';
import { composeDocument } from '#publishing/document/compose.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { createTypesetter } from '#publishing/pdf/typesetter.js';
import { somebody } from './somebody.js';

/**
 * Calculates and renders readings sequentially, without the rest of the service. Prints the CPU milliseconds per
 * reading, without the warm-up. Arguments: warm-up readings, measured readings.
 */
const DAY = '2026-09-29';
const [warmUp = 0, readings = 1] = process.argv.slice(2).map(Number);

const typesetter = createTypesetter();
let before = process.cpuUsage();
for (let n = 0; n < warmUp + readings; n += 1) {
  if (n === warmUp) before = process.cpuUsage();
  const { locale, name, dateOfBirth, grammaticalProfile } = somebody(n);
  const readingId = '00000000-0000-4000-8000-000000000000';
  const input = { name, dateOfBirth, grammaticalProfile };
  const bytes = themeCalculator(documentPublisher)({ readingId, locale, asOf: DAY, input });
  const result = JSON.parse(bytes.toString('utf8')) as ReadingResult;
  const document = composeDocument(result, { publishedAt: `${DAY}T00:00:00.000Z` });
  renderMarkdown(document);
  typesetter.typeset(document);
  // Lets Node free buffers of native code.
  await new Promise(setImmediate);
}
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / 1_000 / readings}\n`);
