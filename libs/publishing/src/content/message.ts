import type { GrammaticalGender, Inline } from '../document/document.js';

/** One text, whole in each form of agreement. */
export type Forms = Readonly<Record<GrammaticalGender, string>>;

/** What fills a placeholder: plain text, or a node such as a `numberRef`. */
export type Values = Readonly<Record<string, string | Inline>>;

const PLACEHOLDER = /\{([a-zA-Z]+)\}/g;

/** What follows a text: a name that ends in a full stop, such as `Jr.`, ends the sentence too. */
const afterPeriod = (before: string, text: string): string =>
  before.endsWith('.') && /^\.(?!\.)/.test(text) ? text.slice(1) : text;

/** The message in one form, as inline nodes; placeholders filled with nodes keep their type. */
export const toInline = (text: Forms, gender: GrammaticalGender, values: Values = {}): Inline[] => {
  // Most texts have no placeholder, and looking for one is far quicker than splitting.
  if (!text[gender].includes('{')) return [{ type: 'text', value: text[gender] }];
  const nodes: Inline[] = [];
  let pending = '';
  const flush = () => {
    if (pending) nodes.push({ type: 'text', value: pending });
    pending = '';
  };
  text[gender].split(PLACEHOLDER).forEach((part, index) => {
    const value = index % 2 === 0 ? part : values[part];
    if (value === undefined) throw new Error(`No value for the placeholder {${part}}`);
    if (typeof value === 'string') {
      pending += afterPeriod(pending, value);
      return;
    }
    flush();
    nodes.push(value);
  });
  flush();
  return nodes;
};

/** The message in one form, as plain text; for titles, captions and alternative texts. */
export const toPlain = (
  text: Forms,
  gender: GrammaticalGender,
  values: Readonly<Record<string, string>> = {},
): string =>
  toInline(text, gender, values)
    .map((node) => ('value' in node ? node.value : ''))
    .join('');
