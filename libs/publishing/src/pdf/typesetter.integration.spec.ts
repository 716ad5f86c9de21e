import { describe, expect, it } from '@jest/globals';
import { composeDocument } from '../document/compose.js';
import { SAMPLES } from '../document/testing/samples.js';
import { LOCALES, trialDocument } from '../document/testing/trial.js';
import { composed, options } from '../document/testing/composed.js';
import { camille, minh, resultOf } from '../document/testing/people.js';
import { headingsOf, textsOf } from '../document/walk.js';
import { bookletOf } from './booklet.js';
import { readPages } from './testing/laid-out.js';
import { charMapOf, objectsOf, streamOf } from './testing/pdf-file.js';
import { pageFaults } from './testing/page-faults.js';
import { readPdf } from './testing/pdf-text.js';
import { createTypesetter } from './typesetter.js';

const typesetter = createTypesetter();

/** Letters only: a line break may drop a space or add a hyphen, and the fonts print both no-break spaces alike. */
const letters = (text: string): string => text.normalize('NFC').replace(/[\s\u00AD\u2010-]/gu, '');

describe('The PDF of a document', () => {
  it.each(SAMPLES)('has its texts and bookmarks, tagged, laid out with care, and small: $slug', (sample) => {
    const document = trialDocument(sample);
    const { locale } = document;
    const bytes = typesetter.typeset(document);
    const pdf = readPdf(bytes);
    const printed = letters(pdf.text);
    expect(textsOf(document).filter((text) => !printed.includes(letters(text)))).toEqual([]);
    // The closing page stands before the notice.
    const titles = headingsOf(document).map(({ title }) => title);
    titles.splice(-1, 0, bookletOf(document, 'a4').closing!.title);
    expect(pdf.outline.map(letters)).toEqual(titles.slice(1).map(letters));
    expect(pdf.source).toContain(`/Lang (${locale})`);
    expect(pdf.source).toMatch(/\/MarkInfo <<\s*\/Marked true/);
    expect(pdf.source).toContain('/DisplayDocTitle true');
    // The exporter claims it only for a file in which it found no violation.
    expect(pdf.source).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(pdf.source.match(/\/Alt /g)?.length).toBeGreaterThanOrEqual(4);
    expect(pageFaults(readPages(bytes))).toEqual([]);
    expect(bytes.byteLength).toBeLessThan(250_000);
  });

  it('has the same bytes with any cached documents, and after the cache is cleared', () => {
    const document = composed(camille, 'fr-FR', 'feminine');
    const first = typesetter.typeset(document);
    typesetter.typeset(composed(minh, 'fr-FR', 'masculine'));
    expect(Buffer.compare(typesetter.typeset(document), first)).toBe(0);
    typesetter.forget();
    expect(Buffer.compare(typesetter.typeset(document), first)).toBe(0);
  });

  it.each([
    ['by-locale', 'fr-FR', 595],
    ['by-locale', 'en-US', 612],
    ['a4', 'en-US', 595],
    ['us-letter', 'fr-FR', 612],
  ] as const)('is on the paper that is asked for: %s, %s', (paper, locale, width) => {
    const pages = readPages(typesetter.typeset(composed(camille, locale, 'feminine'), paper));
    expect(new Set(pages.map((page) => Math.round(page.width)))).toEqual(new Set([width]));
  });

  it.each(['fr-FR', 'en-US'] as const)(
    'says TEST on each page of a test reading, and on no other: %s',
    (locale) => {
      const result = resultOf(camille, locale, 'feminine');
      const bytes = typesetter.typeset(composeDocument(result, { ...options, livemode: false }));
      const test = readPdf(bytes);
      // The cover, then in the head and the margin of each page.
      const marks = test.printed.map((page) => page.match(/TEST/g)?.length);
      expect(marks).toEqual([2, ...marks.slice(1).map(() => 2)]);
      // Readers of the text hear it on the cover alone, as a mark and in a sentence.
      expect(test.text.match(/TEST/g)).toHaveLength(2);
      const live = readPdf(typesetter.typeset(composeDocument(result, options)));
      expect(live.printed.filter((page) => page.includes('TEST'))).toEqual([]);
      expect(test.pages).toBe(live.pages);
    },
  );

  it.each([
    'Ƙasim Ƴar’Aɗua',
    'Ｍａｒｉａ ﬁn',
    'A\u0346na\u0336',
    '#panic() *A* $x$ \\ <b> @c',
    'Wilhelmina Anastasia '.repeat(16).trim(),
  ])('prints rare letters, what looks like markup and a long name as they are: %s', (subtitle) => {
    const pdf = readPdf(typesetter.typeset({ ...composed(camille, 'fr-FR', 'neutral'), subtitle }));
    expect(letters(pdf.text)).toContain(letters(subtitle.normalize('NFKC')));
    expect(pdf.source).toContain('<pdfuaid:part>1</pdfuaid:part>');
  });

  it('prints the document even when no font has a letter, without claiming PDF/UA', () => {
    const pdf = readPdf(
      typesetter.typeset({ ...composed(camille, 'fr-FR', 'neutral'), subtitle: 'Am\u{1DF00}lie' }),
    );
    expect(pdf.pages).toBeGreaterThan(5);
    expect(pdf.source).toMatch(/\/MarkInfo <<\s*\/Marked true/);
    expect(pdf.source).not.toContain('pdfuaid');
  });

  it('maps no glyph of its text to a letter with a mark of the name, for readers that ignore replacement texts', () => {
    const person = {
      name: { firstNames: ['Ọlọ́runfẹ́mi'], middleNames: ['T̈heodor'], lastNames: ['Ẅ̃illi'] },
      dateOfBirth: '1990-06-15',
    };
    const objects = objectsOf(typesetter.typeset(composed(person, 'en-US', 'neutral')));
    const withMarks = [...objects.values()]
      .filter((body) => body.includes('/Subtype /Type0'))
      .filter((font) => {
        const map = objects.get(/ToUnicode (\d+) 0 R/.exec(font)?.[1] ?? '') ?? '';
        return [...charMapOf(streamOf(map)).values()].some((text) => /\p{L}\p{M}/u.test(text));
      })
      .map((font) => /BaseFont \/\w+\+([\w-]+)/.exec(font)?.[1]);
    expect(withMarks.sort()).toEqual(['SourceSans3-Medium', 'SourceSerif4-ExtraLight']);
  });

  it('parts a word of the letters that fits in no line, with a hyphen', () => {
    const word = 'Wolfeschlegelsteinhausenbergerdorff';
    const person = {
      name: { firstNames: ['Li'], middleNames: [], lastNames: [word] },
      dateOfBirth: '1990-06-15',
    };
    const runs = readPages(typesetter.typeset(composed(person, 'fr-FR', 'neutral'))).flatMap((page) =>
      page.runs.filter(({ role }) => role === 'Figure'),
    );
    const drawn = runs.filter(({ text }) => /^[A-Z-]$/.test(text));
    expect(drawn.map(({ text }) => text).join('')).toContain('WOLFESCHLEGELSTEINHAUSENBER-GERDORFF');
  });

  it.each([
    [['Li'], ['W'.repeat(100)], '1990-06-15'],
    [['Abcdefghijklmnopqrstuvwxyza'], ['Llanfairpwllgwyngyllgogerych'], '1936-11-11'],
    [['Anne-Sophie'], ["O'Neil"], '2018-05-04'],
    [['I'.repeat(100), 'M'.repeat(99)], ['Nkwuruhbam'.repeat(10)], '1990-06-15'],
    [Array<string>(8).fill('WILHELMINA MONTGOMERY WORTHINGTON'), [`${'de '.repeat(11)}W`], '1990-06-15'],
  ])('keeps names that are hard to lay out in their places: %.60j', (firstNames, lastNames, dateOfBirth) => {
    const person = { name: { firstNames, middleNames: [], lastNames }, dateOfBirth };
    for (const locale of LOCALES)
      expect(pageFaults(readPages(typesetter.typeset(composed(person, locale, 'neutral'))))).toEqual([]);
  });

  it('draws the letters of the longest names over several pages, and none below a page', () => {
    const name = {
      firstNames: Array<string>(8).fill('Wilhelmina'),
      middleNames: Array<string>(8).fill('Montgomery'),
      lastNames: Array<string>(8).fill('Featherston'),
    };
    const document = composed({ name, dateOfBirth: '1990-06-15' }, 'en-US', 'neutral');
    const pages = readPages(typesetter.typeset(document));
    expect(pageFaults(pages)).toEqual([]);
    const strips = pages
      .map(({ runs }) => runs.filter(({ role, text }) => role === 'Figure' && /^[A-Z]$/.test(text)).length)
      .filter((letters) => letters > 0);
    expect(strips.length).toBeGreaterThan(1);
    expect(strips.reduce((sum, letters) => sum + letters, 0)).toBe(8 * 31);
  });
});
