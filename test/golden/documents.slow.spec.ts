import { expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';
import { CONTENT_VERSION } from '#publishing/contracts/index.js';
import { renderDocument } from '#publishing/document/render-document.js';
import { newborn } from '#publishing/document/testing/people.js';
import { SAMPLES } from '#publishing/document/testing/samples.js';
import { LOCALES, trialResult } from '#publishing/document/testing/trial.js';
import { createTypesetter } from '#publishing/pdf/typesetter.js';
import { sha256 } from './schema-lock.js';

/*
 * The documents of twelve readers and of a child's parents, in both languages and three formats. A lost document is made again only if the same texts
 * give the same bytes (RemakeDocuments). After a change of the texts or the page, with a new CONTENT_VERSION, run
 * `DOCUMENTS=write npm run test:all -- test/golden/documents`.
 */
const path = projectPath('test/golden/documents.json');
const readings = [
  ...SAMPLES,
  ...LOCALES.map((locale) => ({
    slug: `parents-${locale}`,
    person: newborn,
    locale,
    gender: 'feminine' as const,
  })),
];
const typesetter = createTypesetter();
const edition = {
  version: 1,
  publishedAt: '2026-09-29T08:00:00.000Z',
  livemode: true,
  paper: 'by-locale',
} as const;

it('The same texts give the same bytes as ever', async () => {
  const documents: Record<string, Record<string, string>> = {};
  for (const sample of readings) {
    const result = Buffer.from(JSON.stringify(trialResult(sample)));
    const formats = await renderDocument(result, edition, (...asked) => typesetter.typeset(...asked));
    const digests = Object.entries(formats).map(([format, bytes]) => [format, sha256(bytes)] as const);
    documents[sample.slug] = Object.fromEntries(digests);
  }
  const made = { contentVersion: CONTENT_VERSION, documents };
  if (process.env['DOCUMENTS'] === 'write') writeFileSync(path, `${JSON.stringify(made, null, 2)}\n`);
  expect(made).toEqual(JSON.parse(readFileSync(path, 'utf8')));
});
