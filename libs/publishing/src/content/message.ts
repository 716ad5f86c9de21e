import { z } from 'zod';
import type { GrammaticalGender, Inline } from '../document/document.js';

/** One text, whole in each form of agreement. */
export type Forms = Readonly<Record<GrammaticalGender, string>>;

/** One sentence or paragraph; `young` takes its place where its scenes would not fit a reader under sixteen. */
export type Message = Forms & { readonly young?: Forms };

/** What fills a placeholder: plain text, or a node such as a `numberRef`. */
export type Values = Readonly<Record<string, string | Inline>>;

const PLACEHOLDER = /\{([a-zA-Z]+)\}/g;

const placeholdersOf = (text: string): string[] =>
  [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name]) => name as string))].sort();

const usesExactly = (names: readonly string[]) => (text: string) =>
  placeholdersOf(text).join() === [...names].sort().join();

/**
 * Schema of an authored text. It is either one string, true for every reader as it stands, or a map of whole
 * sentences by gender; and `text` with `young` where a reader under sixteen gets another scene. Each form must use
 * exactly the named placeholders, so that no language loses one.
 */
export const message = (...placeholders: string[]) => {
  const text = z
    .string()
    .min(1)
    .refine((value) => value === value.trim() && !/ {2}|\n/.test(value), 'has stray spaces or line breaks')
    .refine(
      usesExactly(placeholders),
      `must use exactly these placeholders: ${placeholders.join(', ') || 'none'}`,
    );
  const forms: z.ZodType<Message> = z.union([
    text.transform((value): Message => ({ feminine: value, masculine: value, neutral: value })),
    z.strictObject({ feminine: text, masculine: text, neutral: text }),
  ]);
  const byAge = z.strictObject({ text: forms, young: forms });
  return z.union([forms, byAge.transform(({ text: grown, young }): Message => ({ ...grown, young }))]);
};

const valueOf = <T>(values: Readonly<Record<string, T>>, name: string): T => {
  const value = values[name];
  if (value === undefined) throw new Error(`No value for the placeholder {${name}}`);
  return value;
};

/** The message in one form, as inline nodes; placeholders filled with nodes keep their type. */
export const toInline = (text: Forms, gender: GrammaticalGender, values: Values = {}): Inline[] => {
  const nodes: Inline[] = [];
  let pending = '';
  const flush = () => {
    if (pending) nodes.push({ type: 'text', value: pending });
    pending = '';
  };
  text[gender].split(PLACEHOLDER).forEach((part, index) => {
    const value = index % 2 === 0 ? part : valueOf(values, part);
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
): string => text[gender].replace(PLACEHOLDER, (_, name: string) => valueOf(values, name));
