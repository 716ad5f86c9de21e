import type { Block, DocumentV1, Inline, Section } from '@app/publishing/document/document.js';

const inlineText = (node: Inline): string =>
  'children' in node ? node.children.map(inlineText).join('') : node.value;

/** Every paragraph and list item within, in reading order. */
export const paragraphsWithin = (node: Block | Section): string[] => {
  switch (node.type) {
    case 'paragraph':
      return [node.children.map(inlineText).join('')];
    case 'list':
      return node.children.map((item) => item.children.map(inlineText).join(''));
    case 'section':
    case 'callout':
    case 'blockquote':
      return node.children.flatMap(paragraphsWithin);
    default:
      return [];
  }
};

/** The prose of a document by paragraph, without tables, figures, the method and the closing notice. */
export const proseOf = (document: DocumentV1): string[] =>
  document.children.filter(({ role }) => role !== 'method' && role !== 'notice').flatMap(paragraphsWithin);

/** Sentences of at least four words that occur in the prose more than once. */
export const repeatedSentences = (paragraphs: readonly string[]): string[] => {
  const sentences = paragraphs
    .flatMap((text) => text.split(/(?<=[.?…])\s/u))
    .filter((sentence) => sentence.split(/\s/u).length >= 4);
  return sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index);
};

/**
 * Word sequences that occur in the prose at least `times` times.
 * @param length words in a sequence; sequences do not cross paragraphs
 */
export const repeatedSequences = (
  paragraphs: readonly string[],
  { length = 6, times = 3 }: { length?: number; times?: number } = {},
): string[] => {
  const counts = new Map<string, number>();
  for (const paragraph of paragraphs) {
    const words = paragraph.toLowerCase().match(/[\p{L}\p{N}]+(?:[’'/-][\p{L}\p{N}]+)*/gu) ?? [];
    // Cut from one string: joining the words of each sequence would take three times as long.
    const text = words.join(' ');
    const ends: number[] = [];
    words.forEach((word, at) => ends.push((ends[at - 1] ?? -1) + 1 + word.length));
    for (let start = 0; start + length <= words.length; start += 1) {
      const sequence = text.slice(start === 0 ? 0 : (ends[start - 1] ?? 0) + 1, ends[start + length - 1]);
      counts.set(sequence, (counts.get(sequence) ?? 0) + 1);
    }
  }
  return [...counts].filter(([, count]) => count >= times).map(([sequence]) => sequence);
};
