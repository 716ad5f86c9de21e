import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PhrasingContent, Root } from 'mdast';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import { plainFirst } from './plain-text.js';

const PIECES = [
  ...'\\`*_[]&<>!~|#:=+-.()1 "\'/?\u00A0\u202F’é',
  '\n', '\t', 'a', 'mot', '10.', '3)', '- ', '# ', '![', '](', '&amp;', '<b', '--', ':-', '  ',
]; // prettier-ignore

const value = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.constantFrom('', 'mot', '11/2', '1', '. a', ' a '),
);
const text = value.map((each): PhrasingContent => ({ type: 'text', value: each }));
const strong = text.map((child): PhrasingContent => ({ type: 'strong', children: [child] }));
const emphasis = text.map((child): PhrasingContent => ({ type: 'emphasis', children: [child] }));
const phrasing = fc.oneof(
  text.map((only) => [only]),
  fc.tuple(text, text),
  fc.tuple(text, strong, text),
  fc.tuple(strong, text, strong),
  fc.array(fc.oneof(text, strong, emphasis), { minLength: 1, maxLength: 5 }),
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
      expect(toMarkdown(document, { handlers: plainFirst, extensions })).toBe(
        toMarkdown(document, { extensions }),
      );
    }),
    { numRuns: 10_000, seed: 11 },
  );
});
