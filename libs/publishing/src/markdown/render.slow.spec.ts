import { describe, expect, it } from '@jest/globals';
import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { parse } from 'yaml';
import { composed } from '../document/testing/composed.js';
import type { DocumentV1 } from '../document/document.js';
import { SAMPLES } from '../document/testing/samples.js';
import { trialDocument } from '../document/testing/trial.js';
import { camille } from '../document/testing/people.js';
import { headingsOf, textsOf } from '../document/walk.js';
import { lowerDocument, renderMarkdown } from './render.js';

const document = composed(camille, 'fr-FR', 'feminine');
const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;

const parsed = (markdown: string): Root =>
  fromMarkdown(markdown.replace(FRONT_MATTER, ''), {
    extensions: [gfm()],
    mdastExtensions: [gfmFromMarkdown()],
  });

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
  it.each(SAMPLES)('parses back to the tree it was written from, with all its texts: $slug', (sample) => {
    const source = trialDocument(sample);
    const root = parsed(renderMarkdown(source));
    expect(bare(root)).toEqual(bare(lowerDocument(source)));
    const text = toString(root);
    expect(textsOf(source).filter((piece) => !text.includes(piece))).toEqual([]);
    const headings = nodesOf(root).filter((node) => node.type === 'heading');
    expect(headings.map((node) => ({ depth: node.depth, title: toString(node) }))).toEqual(
      headingsOf(source),
    );
  });

  it('states in its front matter the reading and the versions, and ends in one newline', () => {
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
    expect(renderMarkdown(document)).toMatch(/[^\n]\n$/);
  });

  it.each(['*A* _b_ `c`', '[x](javascript:y)', '<b onload=1>', '# A', '| A |', '&amp;', '(A) +1'])(
    'keeps a name that looks like markup as text, wherever it stands: %s',
    (name) => {
      const root = parsed(renderMarkdown(saying(name)));
      const strong = nodesOf(root).find(({ type }) => type === 'strong');
      expect(strong && toString(strong)).toBe(name);
      const shown = nodesOf(root).map(({ type }) => type);
      expect(
        shown.filter((type) => ['html', 'link', 'image', 'inlineCode', 'thematicBreak'].includes(type)),
      ).toEqual([]);
    },
  );

  it.each([
    'www.evil-prizes.com',
    "www.jean-d'arc.com www.marie.fr",
    'St.www.élan.fr',
    'http://evil.com/a?b=c',
    'win@evil-prizes.com',
    'xmpp:win@evil.com/x',
  ])('has no link for a GFM parser, wherever a name or a label occurs: %s', (name) => {
    const root = parsed(renderMarkdown(saying(name)));
    expect(nodesOf(root).filter(({ type }) => type === 'link')).toEqual([]);
    // Heading, subtitle, detail, section, paragraph, strong, list, callout and its text, caption, cells, card.
    const shown = nodesOf(root).map(toString).join(' ');
    expect(shown.split(name).length).toBeGreaterThan(12);
  });

  it('of other people is unchanged: periods and hyphens alone have no effect', () => {
    for (const subtitle of ['St. John', 'J.-P. Martin', 'A.W.W. Smith', 'Ewww', 'd’Arc', 'Www'])
      expect(renderMarkdown({ ...document, subtitle })).toContain(`\n**${subtitle}**\n`);
  });
});

/** A document that says a name in every kind of node. */
const saying = (name: string): DocumentV1 => {
  const paragraph = { type: 'paragraph', children: [{ type: 'text', value: name }] } as const;
  const head = [[{ type: 'text', value: name }]] as const;
  const children = [
    paragraph,
    { type: 'paragraph', children: [{ type: 'strong', children: paragraph.children }] },
    { type: 'list', ordered: false, children: [paragraph] },
    { type: 'callout', kind: 'note', title: name, children: [paragraph] },
    { type: 'table', caption: name, head, rows: [head] },
    { type: 'numberCard', id: 'x', label: name, value: '1', archetype: name, keywords: [name] },
  ];
  const section = { ...document.children[0]!, title: name, children };
  return {
    ...document,
    title: name,
    subtitle: name,
    details: [name],
    children: [section],
  } as unknown as DocumentV1;
};
