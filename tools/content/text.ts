import type { Block, DocumentV1, Inline, Section } from '#publishing/document/document.js';

/** The value below which a share of the numbers lies; 0 of no numbers. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((one, other) => one - other)[
    Math.min(Math.floor(numbers.length * share), numbers.length - 1)
  ] ?? 0;

export const sentencesOf = (text: string): string[] => text.split(/(?<=[.?…][”»]?)\s+/u);

export const wordsIn = (text: string): number =>
  text.match(/[\p{L}\p{N}{}]+(?:[’'-][\p{L}\p{N}]+)*/gu)?.length ?? 0;

/** Letters and digits in a row, in small letters: words as a comparison of two texts takes them. */
export const foldedWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Every `length` words that follow each other. */
export const sequencesOf = (words: readonly string[], length: number): string[] =>
  words.slice(length - 1).map((_, start) => words.slice(start, start + length).join(' '));

export const inlineText = (nodes: readonly Inline[]): string =>
  nodes.map((node) => ('children' in node ? inlineText(node.children) : node.value)).join('');

/** Every node within, in reading order; the tables that replace figures are none of them. */
export const nodesOf = (node: Block | Section | Inline): (Block | Section | Inline)[] => [
  node,
  ...('children' in node ? node.children : []).flatMap((child) =>
    child.type === 'listItem' ? child.children.flatMap(nodesOf) : nodesOf(child),
  ),
  ...(node.type === 'table' ? [node.head, ...node.rows].flat(2).flatMap(nodesOf) : []),
];

/** Every paragraph and list item within, in reading order. */
export const paragraphsWithin = (node: Block | Section): string[] =>
  nodesOf(node).flatMap((each) => {
    if (each.type === 'paragraph') return [inlineText(each.children)];
    return each.type === 'list' ? each.children.map((item) => inlineText(item.children)) : [];
  });

/** The prose of a document by paragraph, without tables, figures, the method and the closing notice. */
export const proseOf = (document: DocumentV1): string[] =>
  document.children.filter(({ role }) => role !== 'method' && role !== 'notice').flatMap(paragraphsWithin);

/** Sentences of at least four words that occur in the prose more than once. */
export const repeatedSentences = (paragraphs: readonly string[]): string[] => {
  const sentences = paragraphs.flatMap(sentencesOf).filter((sentence) => sentence.split(/\s/u).length >= 4);
  return sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index);
};

/** Six words in a row that occur in the prose at least three times; they do not cross paragraphs. */
export const repeatedSequences = (paragraphs: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const paragraph of paragraphs) {
    const words = paragraph.toLowerCase().match(/[\p{L}\p{N}]+(?:[’'/-][\p{L}\p{N}]+)*/gu) ?? [];
    for (const sequence of sequencesOf(words, 6)) counts.set(sequence, (counts.get(sequence) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count >= 3).map(([sequence]) => sequence);
};
