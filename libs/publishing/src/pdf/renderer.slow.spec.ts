import { afterAll, expect, it } from '@jest/globals';
import { camille, minh } from '../document/testing/people.js';
import { composed } from '../document/testing/composed.js';
import { createPdfRenderer } from './renderer.js';
import { readPdf } from './testing/pdf-text.js';

const document = composed(camille, 'fr-FR', 'feminine');
const renderer = createPdfRenderer(2);
afterAll(() => renderer.close());

it('The pool returns each caller its own document, with the same bytes from every thread', async () => {
  const asked = [document, composed(minh), document, document];
  const [first, second, third, fourth] = await Promise.all(asked.map((each) => renderer.render(each)));
  expect(readPdf(first!).text).toContain('Camille Marie Laurent');
  expect(readPdf(second!).text).toContain('Nguyễn Thị Minh');
  expect([third, fourth].map((each) => Buffer.compare(each!, first!))).toEqual([0, 0]);
});

it('The pool keeps working after a document that cannot be typeset', async () => {
  const broken = { ...document, meta: { ...document.meta, publishedAt: 'never' } };
  await expect(renderer.render(broken)).rejects.toThrow();
  expect((await renderer.render(document)).byteLength).toBeGreaterThan(50_000);
});
