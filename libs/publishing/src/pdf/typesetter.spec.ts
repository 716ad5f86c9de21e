import { describe, expect, it } from '@jest/globals';
import { composeDocument } from '../document/compose.js';
import type { DocumentV1, GrammaticalGender, Locale } from '../document/document.js';
import { camille, child, minh, type Person, resultOf, withoutVowel } from '../document/testing/people.js';
import { headingsOf, textsOf } from '../document/walk.js';
import { readPdf } from './testing/pdf-text.js';
import { createTypesetter } from './typesetter.js';

const typesetter = createTypesetter();

const composed = (person: Person, locale: Locale, gender: GrammaticalGender): DocumentV1 =>
  composeDocument(resultOf(person, locale, gender), { publishedAt: '2026-09-29T08:00:00.000Z' });

/** Letters alone: a line end may drop a space or add a hyphen, and the fonts print both no-break spaces alike. */
const letters = (text: string): string => text.normalize('NFC').replace(/[\s\u00AD\u2010-]/gu, '');

describe('The PDF of a document', () => {
  const cases: [string, DocumentV1][] = [
    ['a French reading', composed(camille, 'fr-FR', 'feminine')],
    ['an English reading', composed(camille, 'en-US', 'neutral')],
    ['a Vietnamese name', composed(minh, 'fr-FR', 'masculine')],
    ['a name without a vowel', composed(withoutVowel, 'en-US', 'feminine')],
    ['a child', composed(child, 'fr-FR', 'neutral')],
  ];

  describe.each(cases)('for %s', (_, document) => {
    const pdf = readPdf(typesetter.typeset(document));

    it('contains every text of the document', () => {
      const printed = letters(pdf.text);
      const missing = textsOf(document).filter((text) => !printed.includes(letters(text)));
      expect(missing).toEqual([]);
    });

    it('lists the headings of the document, in order, as bookmarks', () => {
      const titles = headingsOf(document).slice(1);
      expect(pdf.outline.map(letters)).toEqual(titles.map(({ title }) => letters(title)));
    });

    it('is tagged, in the language of the reading, with a title and alternative texts', () => {
      expect(pdf.source).toContain(`/Lang (${document.locale})`);
      expect(pdf.source).toMatch(/\/MarkInfo <<\s*\/Marked true/);
      expect(pdf.source).toContain('/DisplayDocTitle true');
      expect(pdf.source.match(/\/Alt /g)?.length).toBeGreaterThanOrEqual(4);
    });
  });

  it('is the same bytes every time, from any compiler', () => {
    const document = composed(camille, 'fr-FR', 'feminine');
    const first = typesetter.typeset(document);
    expect(Buffer.compare(typesetter.typeset(document), first)).toBe(0);
    expect(Buffer.compare(createTypesetter().typeset(document), first)).toBe(0);
  });

  it('bears the date of publication and no other', () => {
    const { source } = readPdf(typesetter.typeset(composed(camille, 'en-US', 'feminine')));
    expect(source.match(/D:\d{14}/g)).toEqual(['D:20260929080000', 'D:20260929080000']);
  });

  it('prints a text that looks like markup as it stands', () => {
    const document = { ...composed(camille, 'en-US', 'neutral'), subtitle: '#panic() *A* $x$ \\ <b> @c' };
    expect(letters(readPdf(typesetter.typeset(document)).text)).toContain(
      letters('#panic() *A* $x$ \\ <b> @c'),
    );
  });

  it.each(['Ƙasim Ƴar’Aɗua', 'Ǩoivisto Ṱshivhase', 'Ｍａｒｉａ ﬁn', 'A\u0346na\u0336', 'Łódź Ğİı Ștefan Ẽ'])(
    'prints the rarer Latin letters: %s',
    (subtitle) => {
      const pdf = readPdf(typesetter.typeset({ ...composed(camille, 'fr-FR', 'neutral'), subtitle }));
      expect(letters(pdf.text)).toContain(letters(subtitle.normalize('NFKC')));
      expect(pdf.source).toContain('<pdfuaid:part>1</pdfuaid:part>');
    },
  );

  it('prints the document even if a letter exists in no font, without claiming PDF/UA', () => {
    const pdf = readPdf(
      typesetter.typeset({ ...composed(camille, 'fr-FR', 'neutral'), subtitle: 'Am\u{1DF00}lie' }),
    );
    expect(pdf.pages).toBeGreaterThan(5);
    expect(pdf.source).toMatch(/\/MarkInfo <<\s*\/Marked true/);
    expect(pdf.source).not.toContain('pdfuaid');
  });

  it('draws a very long name without losing any of it', () => {
    const document = {
      ...composed(camille, 'en-US', 'neutral'),
      subtitle: 'Wilhelmina Anastasia '.repeat(16).trim(),
    };
    const pdf = readPdf(typesetter.typeset(document));
    expect(letters(pdf.text)).toContain(letters(document.subtitle));
  });
});
