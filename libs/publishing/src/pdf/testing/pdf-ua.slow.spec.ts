import { describe, expect, it } from '@jest/globals';
import { composeDocument } from '../../document/compose.js';
import { camille, resultOf } from '../../document/testing/people.js';
import { plainText } from './pdf-file.js';
import { createTypesetter } from '../typesetter.js';
import { pdfUaFaults } from './pdf-ua.js';

describe('The check of PDF/UA-1 sees', () => {
  const document = composeDocument(resultOf(camille), { publishedAt: '2026-09-29T08:00:00.000Z' });
  const source = plainText(createTypesetter().typeset(document));

  it.each([
    ['a file that makes no claim', '<pdfuaid:part>1<', '<pdfuaid:part>2<', '5:'],
    ['a title that is not shown', '/DisplayDocTitle true', '/DisplayDocTitle null', 'the title is shown'],
    ['a file that is not marked', '/Marked true', '/Marked null', 'marked'],
    ['a file without language', '/Lang (fr-FR)', '/Lung (fr-FR)', '7.2: the file has a language'],
    ['a figure without alternative text', '/Alt <', '/Alx <', '7.3'],
    ['a header cell without scope', '/Scope /', '/Scoop /', '7.5'],
    ['a cell outside a row', '/S /TR', '/S /H1', 'stands in'],
    ['an unknown type', '/S /P', '/S /Q', 'a standard type'],
    ['a level of heading skipped', '/S /H2', '/S /H3', '7.4.2: no level is skipped'],
    ['an item without label', '/S /Lbl', '/S /Div', '7.6'],
    ['a link without description', '/Contents (C', '/Cintents (C', '7.18.5'],
    ['a tab order of its own', '/Tabs /S', '/Tabs /R', '7.18.3'],
    ['a font that is not embedded', '/FontFile', '/FontPile', '7.21.4'],
    ['a font without Unicode', '/ToUnicode', '/NoUnicode', '7.21.7'],
    [
      'a page without its place in the structure',
      '/StructParents',
      '/StractParents',
      'every mark has its place',
    ],
  ])('%s', (_what, whole, broken, clause) => {
    expect(source).toContain(whole);
    const bytes = Buffer.from(source.replaceAll(whole, broken), 'latin1');
    expect(pdfUaFaults(bytes).join()).toContain(clause);
  });
});
