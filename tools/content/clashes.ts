import type { Form, Trait } from '#publishing/content/book/shape.js';
import type { Locale } from '#publishing/document/document.js';
import { loadBook } from './book-texts.js';
import { sentencesOf } from './text.js';

/** What a text claims, found again in a composed reading by one sentence of it. */
interface Claims {
  readonly at: string;
  readonly traits: readonly string[];
  readonly bridges: readonly Trait[];
}

/** A sentence without a placeholder that tells this text from the others. */
const markOf = (text: string): string | undefined =>
  sentencesOf(text)
    .filter((sentence) => !/[{}]/.test(sentence))
    .toSorted((one, other) => other.length - one.length)[0];

const textsOfForm = (form: Form): string[] =>
  [form.text, ...Object.values(form.ages)].flatMap((forms) => Object.values(forms));

const marksOf = (locale: Locale): ReadonlyMap<string, Claims> => {
  const marks = new Map<string, Claims>();
  for (const { entries } of loadBook(locale)) {
    for (const { file, path, entry } of entries) {
      for (const form of entry) {
        const bridges = file === 'synthesis/bridges' ? [path as Trait] : form.bridges;
        if (form.traits.length + bridges.length === 0) continue;
        for (const text of textsOfForm(form)) {
          const mark = markOf(text);
          if (mark) marks.set(mark, { at: `${file} ${path}`, traits: form.traits, bridges });
        }
      }
    }
  }
  return marks;
};

const known = new Map<Locale, ReadonlyMap<string, Claims>>();

/**
 * The traits of which a reading claims both poles and reconciles neither. It looks at the printed text, and so judges
 * composition without trusting its plan.
 * @param passages paragraphs as they are printed
 */
export const clashesIn = (locale: Locale, passages: readonly string[]): string[] => {
  const marks = known.get(locale) ?? marksOf(locale);
  known.set(locale, marks);
  const told = new Set(
    passages.flatMap(sentencesOf).flatMap((sentence) => {
      const claims = marks.get(sentence);
      return claims ? [claims] : [];
    }),
  );
  const bridged = new Set([...told].flatMap(({ bridges }) => bridges));
  const holders = new Map<string, string>();
  for (const { at, traits } of told) traits.forEach((claim) => holders.set(claim, at));
  return [...holders].flatMap(([claim, at]) => {
    const trait = claim.slice(0, -1) as Trait;
    const other = claim.endsWith('+') ? holders.get(`${trait}-`) : undefined;
    return other === undefined || bridged.has(trait)
      ? []
      : [`${trait}: ${at} and ${other} claim opposite poles`];
  });
};
