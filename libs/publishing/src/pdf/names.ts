import type { Block, Inline, Section } from '../document/document.js';
import { pieces, type SetInline, widthOf } from './inlines.js';

/** Words that belong to the word after them. */
const PARTICLES = new Set(
  'af al am an auf aus av ben bin d da das de dei del della den der des di do dos du e el ibn la las le les lo los mac mc o of saint sainte san santa st st. ste ste. ten ter und van vom von y za zu zum zur'.split(
    ' ',
  ),
);

/** What belongs to the word before it. */
const SUFFIX = /^(?:[js]r\.?|i{2,3}|iv|v)$/i;

const isParticle = (word: string): boolean => PARTICLES.has(word.toLowerCase());

/** The parts of a name that a line never breaks: `Anne`, `de La Tour`, `Smith Jr.` */
export const nameOnCover = (name: string): string[] => {
  const parts: string[] = [];
  let joins = false;
  for (const word of name.split(' ')) {
    if (parts.length > 0 && (joins || SUFFIX.test(word))) parts[parts.length - 1] += `\u00A0${word}`;
    else parts.push(word);
    joins = isParticle(word);
  }
  return parts;
};

/**
 * How many of these words, letters only, belong to each part of each name: a line breaks between names before it breaks
 * between parts. From the first particle on, all is one name: `DE LA TOUR`, `DU PIN`.
 */
export const namesOfWords = (words: readonly string[]): number[][] => {
  const parts = nameOnCover(words.join(' ')).map((part) => part.split('\u00A0').length);
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, count) => sum + count, 0));
  const family = parts.findIndex(
    (count, index) => index > 0 && count > 1 && isParticle(words[starts[index]!]!),
  );
  if (family < 0) return parts.map((count) => [count]);
  return [...parts.slice(0, family).map((count) => [count]), parts.slice(family)];
};

/** A word of this many letters fits in no line that is nearly full, so a line may break it. */
const LONG_NAME = /([^\s-]{17,})/u;
/** A line of leads, in the size of their text. A wider part of a name has more lines. */
const LINE = ((126 / 25.4) * 72) / 12.4;

/** A name in running text: no word of it is hyphenated, and its particles and suffixes stay with it, as on the cover. */
const setName = (name: string): readonly SetInline[] =>
  pieces(
    nameOnCover(name)
      .map((part) => (widthOf(part) > LINE ? part.replaceAll('\u00A0', ' ') : part))
      .join(' '),
    LONG_NAME,
    'long',
    'whole',
  );

const withName = (name: string, nodes: readonly Inline[]): readonly SetInline[] =>
  nodes.flatMap((node): SetInline[] => {
    if ('children' in node) return [{ ...node, children: withName(name, node.children) } as Inline];
    if (node.type !== 'text' || !node.value.includes(name)) return [node];
    return node.value
      .split(name)
      .flatMap((value, index): SetInline[] => [
        ...(index > 0 ? setName(name) : []),
        ...(value === '' ? [] : [{ type: 'text' as const, value }]),
      ]);
  });

/** The document with the name of its reader set so wherever a text says it. */
export const withNameIn = <Node extends Block | Section>(name: string, node: Node): Node => {
  if (node.type === 'paragraph') return { ...node, children: withName(name, node.children) };
  if (node.type !== 'section' && node.type !== 'callout') return node;
  return { ...node, children: (node.children as (Block | Section)[]).map((each) => withNameIn(name, each)) };
};
