import type { Text } from 'mdast';
import { defaultHandlers, type Handle } from 'mdast-util-to-markdown';

/** Characters that may be markup anywhere in a text, a heading or a table cell. */
const MARKUP = /[\\`*_[\]&<!~|#\r\n\t]/;

/** What may open a block at the start of a line. */
const OPENS_BLOCK = /^ |^(?:[-+=>:]|\d+[.)])/;

const isPlain = (value: string, before: string, after: string): boolean =>
  !MARKUP.test(value) &&
  !(before.endsWith('\n') && OPENS_BLOCK.test(value)) &&
  !(after.startsWith('\n') && value.endsWith(' ')) &&
  !(before.endsWith(']') && value.startsWith('('));

/**
 * Writes a text as the library does, but first checks whether it could need an escape at all. The library tries about
 * forty patterns on every text. Prose almost never needs an escape, so that would be most of the work of a document.
 */
export const plainTextFirst: Handle = (node: Text, parent, state, info) =>
  isPlain(node.value, info.before, info.after) ? node.value : defaultHandlers.text(node, parent, state, info);
