import type { Text } from 'mdast';
import { defaultHandlers, type Handle } from 'mdast-util-to-markdown';

/** Characters that may be markup wherever they stand in a text, a heading or a table cell. */
const MARKUP = /[\\`*_[\]&<!~|#\r\n\t]/;

/** What may open a block when a line begins with it. */
const OPENS_BLOCK = /^ |^(?:[-+=>:]|\d+[.)])/;

const isPlain = (value: string, before: string, after: string): boolean =>
  !MARKUP.test(value) &&
  !(before.endsWith('\n') && OPENS_BLOCK.test(value)) &&
  !(after.startsWith('\n') && value.endsWith(' ')) &&
  !(before.endsWith(']') && value.startsWith('('));

/**
 * Writes a text as the library does, but looks first whether anything in it could need an escape. The library tries some
 * forty patterns on every text, which for prose, where nearly nothing needs one, is most of the work of a document.
 */
export const plainTextFirst: Handle = (node: Text, parent, state, info) =>
  isPlain(node.value, info.before, info.after) ? node.value : defaultHandlers.text(node, parent, state, info);
