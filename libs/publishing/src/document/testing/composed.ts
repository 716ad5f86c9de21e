import { composeDocument } from '../compose.js';
import type { Block, DocumentV1, Figure, GrammaticalGender, Locale, Section } from '../document.js';
import { type Person, resultOf } from './people.js';
import { textsOf } from '../walk.js';

export const options = { publishedAt: '2026-09-29T08:00:00.000Z' };

export const composed = (
  person: Person,
  locale: Locale = 'en-US',
  gender: GrammaticalGender = 'neutral',
): DocumentV1 => composeDocument(resultOf(person, locale, gender), options);

type Node = Block | Section;
const childrenOf = (node: Node): readonly Node[] => {
  if (node.type === 'section' || node.type === 'callout') return node.children;
  return node.type === 'figure' ? node.fallback : [];
};
export const nodesOf = (document: DocumentV1): Node[] => {
  const within = (nodes: readonly Node[]): Node[] =>
    nodes.flatMap((node) => [node, ...within(childrenOf(node))]);
  return within(document.children);
};
export const sectionOf = (document: DocumentV1, id: string): Section => {
  const found = nodesOf(document).find((node) => node.type === 'section' && node.id === id);
  if (found?.type !== 'section') throw new Error(`no section ${id}`);
  return found;
};
export const figuresOf = (document: DocumentV1): Figure[] =>
  nodesOf(document).filter((node) => node.type === 'figure');
export const textOf = (document: DocumentV1, id: string): string =>
  textsOf({ title: '', subtitle: '', details: [], children: [sectionOf(document, id)] }).join('');
