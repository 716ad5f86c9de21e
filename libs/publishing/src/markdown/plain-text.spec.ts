import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PhrasingContent, Root } from 'mdast';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import { plainTextFirst } from './plain-text.js';

const PIECES = [
  ...'\\`*_[]&<>!~|#:=+-.()1 "\'/?\u00A0\u202F’é',
  '\n', '\t', 'a', 'mot', '10.', '3)', '- ', '# ', '![', '](', '&amp;', '<b', '--', ':-', '  ',
]; // prettier-ignore

const value = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join(''));
const text = value.map((each): PhrasingContent => ({ type: 'text', value: each }));
const strong = text.map((child): PhrasingContent => ({ type: 'strong', children: [child] }));
const phrasing = fc.oneof(
  text.map((only) => [only]),
  fc.tuple(text, text),
  fc.tuple(text, strong, text),
  fc.tuple(strong, text, strong),
);

const documentOf = (children: PhrasingContent[]): Root => ({
  type: 'root',
  children: [
    { type: 'heading', depth: 2, children },
    { type: 'paragraph', children },
    { type: 'blockquote', children: [{ type: 'paragraph', children }] },
    {
      type: 'list',
      spread: false,
      children: [{ type: 'listItem', spread: false, children: [{ type: 'paragraph', children }] }],
    },
    {
      type: 'table',
      children: [{ type: 'tableRow', children: [{ type: 'tableCell', children }] }],
    },
  ],
});

it('Text is written exactly as the library alone would write it, in every position', () => {
  const extensions = [gfmTableToMarkdown({ tablePipeAlign: false })];
  fc.assert(
    fc.property(phrasing, (children) => {
      const document = documentOf(children);
      expect(toMarkdown(document, { handlers: { text: plainTextFirst }, extensions })).toBe(
        toMarkdown(document, { extensions }),
      );
    }),
    { numRuns: 5_000, seed: 11 },
  );
});
