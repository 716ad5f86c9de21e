import type {
  BlockContent,
  DefinitionContent,
  PhrasingContent,
  Root,
  RootContent,
  TableRow,
  Text,
} from 'mdast';
import { frontmatterToMarkdown } from 'mdast-util-frontmatter';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { defaultHandlers, type Handle, toMarkdown } from 'mdast-util-to-markdown';
import { stringify } from 'yaml';
import type {
  Block,
  Callout,
  Cell,
  DocumentV1,
  Inline,
  NumberCard,
  Section,
  Table,
} from '../document/document.js';

/**
 * Matches where a GitHub Flavored Markdown renderer would detect an address and link it (GFM 6.9, extended autolinks):
 * within `www.`, before `://`, around the `@` of a mail address.
 */
const IN_AN_ADDRESS = /(?<=www)(?=[.])|(?=:\/\/)|(?=@)|(?<=@)/i;

/** Splits a text invisibly. An escape is not enough: some renderers detect addresses after resolving escapes. */
const DIVIDER: PhrasingContent = { type: 'html', value: '<!-- -->' };

/** Text that no renderer turns into a link, even when a name in it looks like an address. */
const words = (value: string): PhrasingContent[] =>
  value
    .split(IN_AN_ADDRESS)
    .flatMap((part, index): PhrasingContent[] => [
      ...(index === 0 ? [] : [DIVIDER]),
      { type: 'text', value: part },
    ]);

type Depth = 1 | 2 | 3 | 4 | 5 | 6;

const strong = (value: string): PhrasingContent => ({ type: 'strong', children: words(value) });
const emphasis = (value: string): PhrasingContent => ({ type: 'emphasis', children: words(value) });

const phrasing = (nodes: readonly Inline[]): PhrasingContent[] =>
  nodes.flatMap((node): PhrasingContent[] => {
    if (node.type === 'text') return words(node.value);
    if (node.type === 'numberRef') return [strong(node.value)];
    return [{ type: node.type, children: phrasing(node.children) }];
  });

const paragraph = (...children: PhrasingContent[]): BlockContent => ({ type: 'paragraph', children });

const row = (cells: readonly Cell[]): TableRow => ({
  type: 'tableRow',
  children: cells.map((cell) => ({ type: 'tableCell', children: phrasing(cell) })),
});

const table = (node: Table): BlockContent => ({
  type: 'table',
  align: [...(node.align ?? [])],
  children: [row(node.head), ...node.rows.map(row)],
});

const numberCard = (node: NumberCard): BlockContent[] => {
  const keywords = (node.keywords ?? []).join(', ');
  return [
    paragraph(
      strong(`${node.label} ${node.value}`),
      ...(node.archetype ? words(` — ${node.archetype}`) : []),
    ),
    ...(keywords ? [paragraph(emphasis(keywords))] : []),
  ];
};

const callout = (node: Callout): BlockContent => ({
  type: 'blockquote',
  children: [...(node.title ? [paragraph(strong(node.title))] : []), ...node.children.flatMap(block)],
});

const block = (node: Block): (BlockContent | DefinitionContent)[] => {
  switch (node.type) {
    case 'paragraph':
      return [paragraph(...phrasing(node.children))];
    case 'list':
      return [
        {
          type: 'list',
          ordered: node.ordered,
          spread: false,
          children: node.children.map((item) => ({
            type: 'listItem',
            spread: false,
            children: [{ type: 'paragraph', children: phrasing(item.children) }],
          })),
        },
      ];
    case 'callout':
      return [callout(node)];
    case 'numberCard':
      return numberCard(node);
    case 'table':
      return [table(node)];
    case 'figure':
      return [...(node.caption ? [paragraph(emphasis(node.caption))] : []), ...node.fallback.flatMap(block)];
  }
};

const section = (node: Section, depth: number): RootContent[] => [
  { type: 'heading', depth: Math.min(depth, 6) as Depth, children: words(node.title) },
  ...node.children.flatMap((child): RootContent[] =>
    child.type === 'section' ? section(child, depth + 1) : block(child),
  ),
];

/** Lowers the document to an mdast tree without front matter. Figures become their fallback, callouts quotes. */
export const lowerDocument = (document: DocumentV1): Root => ({
  type: 'root',
  children: [
    { type: 'heading', depth: 1, children: words(document.title) },
    paragraph(strong(document.subtitle)),
    ...document.details.map((detail) => paragraph(...words(detail))),
    ...document.children.flatMap((child) => section(child, 2)),
  ],
});

/** What may need an escape: markup anywhere in a text, what may open a block, and spaces at an end of a line. */
const MAY_BE_MARKUP = /[\\`*_[\]&<!~|#\r\n\t]|^[ (\-+=>:]|^\d+[.)]| $/;

/** Writes a text as the library does, which tries forty patterns on each: prose almost never needs an escape. */
const text: Handle = (node: Text, parent, state, info) =>
  MAY_BE_MARKUP.test(node.value) ? defaultHandlers.text(node, parent, state, info) : node.value;

/** Identifies the document and the versions to reproduce it; no personal data beyond that of the text. */
const frontMatter = ({ title, locale, livemode, schemaVersion, meta }: DocumentV1): string =>
  stringify(
    {
      title,
      lang: locale,
      ...(livemode === false && { livemode }),
      document: `document_v${schemaVersion}`,
      readingId: meta.readingId,
      documentVersion: meta.documentVersion,
      publishedAt: meta.publishedAt,
      asOf: meta.asOf,
      method: meta.method,
      engineVersion: meta.engineVersion,
      contentVersion: meta.contentVersion,
    },
    { lineWidth: 0 },
  ).trimEnd();

/** The first line of a test reading's document. */
const TEST_MARK: RootContent = {
  type: 'paragraph',
  children: [{ type: 'strong', children: [{ type: 'text', value: 'TEST' }] }],
};

/**
 * Renders the document as CommonMark with GFM tables and a YAML front matter, ending in a newline. Escapes names and
 * all other text, so that nothing in them becomes markup or a link.
 */
export const renderMarkdown = (document: DocumentV1): string => {
  const body = lowerDocument(document);
  const head: RootContent[] = [{ type: 'yaml', value: frontMatter(document) }];
  if (document.livemode === false) head.push(TEST_MARK);
  return toMarkdown(
    { ...body, children: [...head, ...body.children] },
    {
      bullet: '-',
      rule: '-',
      handlers: { text },
      extensions: [gfmTableToMarkdown({ tablePipeAlign: false }), frontmatterToMarkdown('yaml')],
    },
  );
};
