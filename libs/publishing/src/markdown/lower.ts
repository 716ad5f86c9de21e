import type { BlockContent, DefinitionContent, PhrasingContent, Root, RootContent, TableRow } from 'mdast';
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
import { words } from './words.js';

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

const table = (node: Table): BlockContent[] => [
  ...(node.caption ? [paragraph(emphasis(node.caption))] : []),
  { type: 'table', align: [...(node.align ?? [])], children: [row(node.head), ...node.rows.map(row)] },
];

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
    case 'blockquote':
      return [{ type: 'blockquote', children: node.children.flatMap(block) }];
    case 'callout':
      return [callout(node)];
    case 'numberCard':
      return numberCard(node);
    case 'table':
      return table(node);
    case 'figure':
      return [...(node.caption ? [paragraph(emphasis(node.caption))] : []), ...node.fallback.flatMap(block)];
    case 'thematicBreak':
      return [{ type: 'thematicBreak' }];
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
