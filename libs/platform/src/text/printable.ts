/**
 * Control characters (C0, C1, DEL, and so every escape sequence of a terminal), format characters (bidi overrides and
 * marks, zero-width ones, tags), separators of lines and paragraphs, and halves of surrogate pairs.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const escaped = (character: string): string =>
  [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');

/**
 * Makes strangers' text safe for a terminal, a log or a table. Characters that would move the cursor, or reorder or
 * hide their neighbours, are written as `\u001b`, as JSON does. Source: Unicode general categories Cc, Cf, Zl, Zp, Cs.
 */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped);

/** The same for multi-line text whose line breaks are our own. */
export const printableLines = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escaped(character)));
