import type { GrammaticalGender, Inline } from '../document/document.js';

/** One text, whole in each form of agreement. */
export type Forms = Readonly<Record<GrammaticalGender, string>>;

/** What fills a placeholder: plain text, or a node such as a `numberRef`. */
export type Values = Readonly<Record<string, string | Inline>>;

const PLACEHOLDER = /\{([a-zA-Z]+)\}/g;

const valueOf = <T>(values: Readonly<Record<string, T>>, name: string): T => {
  const value = values[name];
  if (value === undefined) throw new Error(`No value for the placeholder {${name}}`);
  return value;
};

/** A name that ends in a full stop, such as `Jr.`, ends the sentence too. */
const afterValue = (before: string, part: string): string =>
  before.endsWith('.') && /^\.(?!\.)/.test(part) ? part.slice(1) : part;

/** The message in one form, as inline nodes; placeholders filled with nodes keep their type. */
export const toInline = (text: Forms, gender: GrammaticalGender, values: Values = {}): Inline[] => {
  const nodes: Inline[] = [];
  let pending = '';
  const flush = () => {
    if (pending) nodes.push({ type: 'text', value: pending });
    pending = '';
  };
  text[gender].split(PLACEHOLDER).forEach((part, index) => {
    const value = index % 2 === 0 ? afterValue(pending, part) : valueOf(values, part);
    if (typeof value === 'string') {
      pending += value;
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
  text[gender]
    .split(PLACEHOLDER)
    .reduce(
      (before, part, index) => before + (index % 2 === 0 ? afterValue(before, part) : valueOf(values, part)),
    );
