import type { Block, DocumentV1, Inline, Section } from './document.js';

const inlineText = (node: Inline): string[] =>
  'children' in node ? node.children.flatMap(inlineText) : [node.value];

const blockText = (node: Block | Section): string[] => {
  switch (node.type) {
    case 'section':
      return [node.title, ...node.children.flatMap(blockText)];
    case 'paragraph':
      return node.children.flatMap(inlineText);
    case 'list':
      return node.children.flatMap((item) => item.children.flatMap(inlineText));
    case 'callout':
      return [...(node.title ? [node.title] : []), ...node.children.flatMap(blockText)];
    case 'numberCard':
      return [node.label, node.value, ...(node.archetype ? [node.archetype] : []), ...(node.keywords ?? [])];
    case 'table':
      return [node.head, ...node.rows].flat(2).flatMap(inlineText);
    case 'figure':
      return node.caption ? [node.caption] : [];
  }
};

/** Every printed text in reading order. Of a figure only the caption counts; its fallback replaces the drawing. */
export const textsOf = (
  document: Pick<DocumentV1, 'title' | 'subtitle' | 'details' | 'children'>,
): string[] => [
  document.title,
  document.subtitle,
  ...document.details,
  ...document.children.flatMap(blockText),
];

/** The title, then the title of each section in reading order, with its depth from 1. */
export const headingsOf = (document: DocumentV1): { depth: number; title: string }[] => {
  const within = (nodes: readonly (Block | Section)[], depth: number): { depth: number; title: string }[] =>
    nodes.flatMap((node) =>
      node.type === 'section' ? [{ depth, title: node.title }, ...within(node.children, depth + 1)] : [],
    );
  return [{ depth: 1, title: document.title }, ...within(document.children, 2)];
};

/** A word or number; what an apostrophe or a hyphen joins is one. */
const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

/** Words and numbers in the printed text. */
export const wordCount = (
  document: Pick<DocumentV1, 'title' | 'subtitle' | 'details' | 'children'>,
): number => textsOf(document).join('\n').match(WORD)?.length ?? 0;
