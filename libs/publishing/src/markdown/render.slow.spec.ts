import { describe, expect, it } from '@jest/globals';
import type { AlignType, Nodes, PhrasingContent, Root, RootContent, Table, TableRow } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { parse } from 'yaml';
import { composeDocument } from '../document/compose.js';
import type { DocumentV1 } from '../document/document.js';
import { SAMPLES } from '../document/testing/samples.js';
import { trialDocument } from '../document/testing/trial.js';
import { camille, resultOf } from '../document/testing/people.js';
import { headingsOf, textsOf } from '../document/walk.js';
import { lowerDocument, renderMarkdown } from './render.js';

const options = { publishedAt: '2026-09-29T08:00:00.000Z' };
const document = composeDocument(resultOf(camille, 'fr-FR', 'feminine'), options);

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;

const CELL_EDGE = /(?<!\\)\|/;
const ALIGNMENTS: Record<string, AlignType> = { ':-': 'left', ':-:': 'center', '-:': 'right' };

const cellsOf = (line: string): string[] =>
  line
    .split(CELL_EDGE)
    .slice(1, -1)
    .map((cell) => cell.trim());

const inlineOf = (source: string): PhrasingContent[] => {
  const [only] = fromMarkdown(source).children;
  return only?.type === 'paragraph' ? only.children : [];
};

const row = (line: string): TableRow => ({
  type: 'tableRow',
  children: cellsOf(line).map((cell) => ({ type: 'tableCell', children: inlineOf(cell) })),
});

/** Parses a GFM table by the rules of its specification. To CommonMark alone it is a paragraph of piped lines. */
const tableOf = (source: string): Table => {
  const [head = '', delimiters = '', ...body] = source.split('\n');
  return {
    type: 'table',
    align: cellsOf(delimiters).map((cell) => ALIGNMENTS[cell] ?? null),
    children: [head, ...body].map(row),
  };
};

const parsed = (markdown: string): Root => {
  const source = markdown.replace(FRONT_MATTER, '');
  const root = fromMarkdown(source);
  const children = root.children.map((node): RootContent => {
    const text = source.slice(node.position?.start.offset, node.position?.end.offset);
    return node.type === 'paragraph' && text.startsWith('|') ? tableOf(text) : node;
  });
  return { ...root, children };
};

const toString = (node: Nodes): string => {
  if (node.type === 'html') return '';
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(toString).join('') : '';
};

const nodesOf = (node: Nodes): Nodes[] => [
  node,
  ...('children' in node ? node.children.flatMap(nodesOf) : []),
];

/** The tree without source positions and unset fields. */
const bare = (root: Root): unknown =>
  JSON.parse(
    JSON.stringify(root, (key, value: unknown) => (key === 'position' || value === null ? undefined : value)),
  );

it('says TEST first, for a test reading alone', () => {
  const test = renderMarkdown({ ...document, livemode: false });
  expect(test.replace(FRONT_MATTER, '').trimStart()).toMatch(/^[*]{2}TEST[*]{2}\n\n# /);
  expect(parse(FRONT_MATTER.exec(test)![1]!)).toMatchObject({ livemode: false });
  expect(renderMarkdown(document)).not.toMatch(/TEST|livemode/);
});

describe('The Markdown of a document', () => {
  const documents = SAMPLES.map((sample): [string, DocumentV1] => [sample.slug, trialDocument(sample)]);

  it.each(documents)('parses back to the tree it was written from: %s', (_, source) => {
    expect(bare(parsed(renderMarkdown(source)))).toEqual(bare(lowerDocument(source)));
  });

  it.each(documents)('contains every text of the document: %s', (_, source) => {
    const text = toString(parsed(renderMarkdown(source)));
    expect(textsOf(source).filter((piece) => !text.includes(piece))).toEqual([]);
  });

  it.each(documents)('has the headings of the document, in order: %s', (_, source) => {
    const headings = nodesOf(parsed(renderMarkdown(source))).filter((node) => node.type === 'heading');
    expect(headings.map((node) => ({ depth: node.depth, title: toString(node) }))).toEqual(
      headingsOf(source),
    );
  });

  it('states in its front matter the reading and the versions', () => {
    const [, front = ''] = FRONT_MATTER.exec(renderMarkdown(document)) ?? [];
    expect(parse(front)).toEqual({
      title: 'Thème numérologique',
      lang: 'fr-FR',
      document: 'document_v1.0',
      readingId: '0b9f6f0e-5b7d-4f44-9a43-0f3c6c1f8a11',
      documentVersion: 1,
      publishedAt: '2026-09-29T08:00:00.000Z',
      asOf: '2026-09-29',
      method: 'evan-1',
      engineVersion: '1.0.0',
      contentVersion: '2026.11.0',
    });
  });

  it('turns every figure into a table', () => {
    const tables = nodesOf(parsed(renderMarkdown(document))).filter(({ type }) => type === 'table');
    expect(tables.length).toBe(18);
  });

  it.each([
    '*A* _b_ `c`',
    '[x](javascript:y)',
    '<b onload=1>',
    '# A',
    '1. A',
    '| A |',
    '&amp;',
    '---',
    '![a](b)',
  ])('keeps a name that looks like markup as text: %s', (subtitle) => {
    const root = parsed(renderMarkdown({ ...document, subtitle }));
    const strong = nodesOf(root).find(({ type }) => type === 'strong');
    expect(strong && toString(strong)).toBe(subtitle);
    expect(
      nodesOf(root).filter(({ type }) => type === 'html' || type === 'link' || type === 'image'),
    ).toEqual([]);
  });

  describe.each([
    'www.evil-prizes.com',
    'WWW.Evil.Com',
    'Jean-www.evil.com',
    "www.jean-d'arc.com www.marie.fr",
    'St.www.élan.fr',
    'http://evil.com/a?b=c',
    'https://evil.com',
    'ftp://evil.com',
    'win@evil-prizes.com',
    'mailto:win@evil.com',
    'xmpp:win@evil.com/x',
  ])('of somebody called %s', (name) => {
    const paragraph = { type: 'paragraph', children: [{ type: 'text', value: name }] } as const;
    const head = [[{ type: 'text', value: name }]] as const;
    const markdown = renderMarkdown({
      ...document,
      title: name,
      subtitle: name,
      details: [name],
      children: [
        {
          ...document.children[0]!,
          title: name,
          children: [
            paragraph,
            { type: 'paragraph', children: [{ type: 'strong', children: paragraph.children }] },
            { type: 'list', ordered: false, children: [paragraph] },
            { type: 'callout', kind: 'note', title: name, children: [paragraph] },
            { type: 'table', caption: name, head, rows: [head] },
            { type: 'numberCard', id: 'x', label: name, value: '1', archetype: name, keywords: [name] },
          ],
        },
      ],
    } as unknown as DocumentV1).replace(FRONT_MATTER, '');

    it('has no link for a GFM parser, wherever a name or a label occurs', () => {
      const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
      expect(nodesOf(root).filter(({ type }) => type === 'link')).toEqual([]);
      // Heading, subtitle, detail, section, paragraph, strong, list, callout and its text, caption, cells, card.
      const shown = nodesOf(root).map(toString).join(' ');
      expect(shown.split(name).length).toBeGreaterThan(12);
    });
  });

  it('of other people is unchanged: periods and hyphens alone have no effect', () => {
    const plain = ['St. John', 'J.-P. Martin', 'A.W.W. Smith', 'Ewww', 'd’Arc', 'Www'];
    for (const subtitle of plain)
      expect(renderMarkdown({ ...document, subtitle })).toContain(`\n**${subtitle}**\n`);
  });

  it('ends in one newline', () => {
    expect(renderMarkdown(document)).toMatch(/[^\n]\n$/);
  });
});
