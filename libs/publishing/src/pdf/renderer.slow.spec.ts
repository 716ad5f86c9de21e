import { afterAll, describe, expect, it } from '@jest/globals';
import { composeDocument } from '../document/compose.js';
import { camille, minh, resultOf } from '../document/testing/people.js';
import { createPdfRenderer } from './renderer.js';
import { readPdf } from './testing/pdf-text.js';

const options = { publishedAt: '2026-09-29T08:00:00.000Z' };
const document = composeDocument(resultOf(camille, 'fr-FR', 'feminine'), options);
const other = composeDocument(resultOf(minh, 'en-US'), options);

describe('The pool of PDF threads', () => {
  const renderer = createPdfRenderer({ threads: 2 });
  afterAll(() => renderer.close());

  it('returns each caller its own document, with the same bytes from every thread', async () => {
    const [first, second, third, fourth] = await Promise.all(
      [document, other, document, document].map((each) => renderer.render(each)),
    );
    expect(readPdf(first ?? new Uint8Array()).text).toContain('Camille Marie Laurent');
    expect(readPdf(second ?? new Uint8Array()).text).toContain('Nguyễn Thị Minh');
    expect(Buffer.compare(third ?? new Uint8Array(), first ?? new Uint8Array())).toBe(0);
    expect(Buffer.compare(fourth ?? new Uint8Array(), first ?? new Uint8Array())).toBe(0);
  });

  it('lets Typst take as many threads of its own', () => {
    expect(process.env.RAYON_NUM_THREADS).toBe('2');
  });

  it('keeps working after a document that cannot be typeset', async () => {
    const broken = { ...document, meta: { ...document.meta, publishedAt: 'never' } };
    await expect(renderer.render(broken)).rejects.toThrow();
    expect((await renderer.render(document)).byteLength).toBeGreaterThan(50_000);
  });
});

it('A full pool refuses more documents instead of queueing without bound', async () => {
  const renderer = createPdfRenderer({ threads: 1, maxQueue: 1 });
  const answers = await Promise.allSettled([1, 2, 3].map(() => renderer.render(document)));
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect((await renderer.render(document)).byteLength).toBeGreaterThan(50_000);
  await renderer.close();
});

it('A render that exceeds its timeout is aborted', async () => {
  const renderer = createPdfRenderer({ threads: 1, timeoutMs: 1 });
  await expect(renderer.render(document)).rejects.toThrow('aborted');
  await renderer.close();
});
