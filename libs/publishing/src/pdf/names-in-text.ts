import type { Block, Inline, Section } from '../document/document.js';
import { pieces, type SetInline } from './inlines.js';
import { nameOnCover } from './name-on-cover.js';
import { widthOf } from './one-line-rows.js';

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
  if (node.type !== 'section' && node.type !== 'callout' && node.type !== 'blockquote') return node;
  return { ...node, children: (node.children as (Block | Section)[]).map((each) => withNameIn(name, each)) };
};
