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
    case 'blockquote':
      return node.children.flatMap(blockText);
    case 'callout':
      return [...(node.title ? [node.title] : []), ...node.children.flatMap(blockText)];
    case 'numberCard':
      return [node.label, node.value, ...(node.archetype ? [node.archetype] : []), ...(node.keywords ?? [])];
    case 'table':
      return [
        ...(node.caption ? [node.caption] : []),
        ...[node.head, ...node.rows].flat(2).flatMap(inlineText),
      ];
    case 'figure':
      return node.caption ? [node.caption] : [];
    case 'thematicBreak':
      return [];
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

const LETTER = 1;
const JOINER = 2;

/** What each UTF-16 unit is within a word: a letter or digit, or what joins two parts of one. */
const KINDS = Uint8Array.from({ length: 0x10000 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[\p{L}\p{N}]/u.test(character)) return LETTER;
  return /['’-]/.test(character) ? JOINER : 0;
});

/** Words and numbers of a text; what an apostrophe or a hyphen joins is one. A pattern takes ten times as long. */
const wordsOf = (text: string): number => {
  let count = 0;
  let before = 0;
  let within = false;
  for (let at = 0; at < text.length; at += 1) {
    const kind = KINDS[text.charCodeAt(at)] ?? LETTER;
    if (kind === LETTER) {
      if (!within && !(before === JOINER && at > 1 && KINDS[text.charCodeAt(at - 2)] === LETTER)) count += 1;
      within = true;
    } else {
      within = false;
    }
    before = kind;
  }
  return count;
};

/** Words and numbers in the printed text. Counted in one text: it takes half as long as in a thousand. */
export const wordCount = (
  document: Pick<DocumentV1, 'title' | 'subtitle' | 'details' | 'children'>,
): number => wordsOf(textsOf(document).join('\n'));
