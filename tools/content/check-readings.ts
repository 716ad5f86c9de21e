import { familyOf } from '#publishing/content/book/families.js';
import type { Block, DocumentV1, Locale, Section } from '#publishing/document/document.js';
import { randomPerson, readingDay } from '#publishing/document/testing/random-people.js';
import { GENDERS, LOCALES, type Trial, trialDocument } from '#publishing/document/testing/trial.js';
import { schemaFaults } from '#publishing/document/testing/schema-faults.js';
import { headingsOf, textsOf } from '#publishing/document/walk.js';
import { renderMarkdown } from '#publishing/markdown/render.js';
import { clashesIn } from './clashes.js';
import { brokenRules } from './lint.js';
import { SIMILES } from './book-rules.js';
import { loadBook, textsOf as textsOfBook } from './book-texts.js';
import { inlineText, nodesOf, proseOf, repeatedSentences, repeatedSequences, sentencesOf } from './text.js';

/** A reading that must not be published: its person, and its faults. */
export interface ReadingFault {
  /** Gives the same person again with `randomPerson`. */
  readonly seed: number;
  readonly locale: Trial['locale'];
  readonly gender: Trial['gender'];
  readonly fault: string;
}

/** Traces of a gap in the text. No valid name contains one. */
const LEFT_OVER = /undefined|\bnull\b|\bNaN\b|[{}]|\[object| {2}/;

/** The full text of each paragraph, item and cell. */
const passagesOf = (node: Block | Section): string[] => {
  switch (node.type) {
    case 'paragraph':
      return [inlineText(node.children)];
    case 'list':
      return node.children.map((item) => inlineText(item.children));
    case 'table':
      return [node.head, ...node.rows].flat().map(inlineText);
    case 'figure':
      return [node.alt, node.caption ?? node.alt, ...node.fallback.flatMap(passagesOf)];
    case 'numberCard':
      return [node.label, node.value, ...(node.keywords ?? [])];
    case 'section':
      return [node.title, ...node.children.flatMap(passagesOf)];
    case 'callout':
      return node.children.flatMap(passagesOf);
  }
};

/** Most passages recur from person to person, so each is linted once. */
const createLint = () => {
  const known = new Map<string, readonly string[]>();
  return (document: DocumentV1, passage: string): readonly string[] => {
    const { locale, meta, subtitle } = document;
    // The caller's spelling of a name follows no house style.
    const text = passage.replaceAll(subtitle, 'N');
    const neutral = meta.subject.subjectGender === 'neutral';
    const key = `${locale} ${String(neutral)} ${text}`;
    const before = known.get(key);
    if (before) return before;
    const broken = brokenRules(locale, text).filter((rule) => neutral || !rule.startsWith('agreement'));
    known.set(key, broken);
    return broken;
  };
};

/** What stands after "like a" and is no image. */
const NO_IMAGES: Readonly<Record<Locale, string>> = {
  'fr-FR': 'autres autre',
  'en-US': 'person thing long start one others same rest last next first whole',
};

/** An image whose noun another paragraph has used. */
const imagesTwice = (locale: Locale, prose: readonly string[]): string[] => {
  const seen = new Set<string>();
  return prose.flatMap((paragraph) => {
    const nouns = new Set(
      [...paragraph.matchAll(SIMILES[locale])].map(([, noun = '']) => noun.toLowerCase()),
    );
    const again = [...nouns].filter((noun) => seen.has(noun) && !NO_IMAGES[locale].split(' ').includes(noun));
    nouns.forEach((noun) => seen.add(noun));
    return again.map((noun) => `the image of "${noun}" twice: ${paragraph.slice(0, 60)}…`);
  });
};

/** Completed years below which a reading speaks to the parents. */
const READER_AGE = 7;

/** Sentences without a placeholder of the texts for parents, and of all others but the frames. */
const sentencesOfBooks = (locale: Locale) => {
  const parents = new Set<string>();
  const readers = new Set<string>();
  for (const { placed, forms } of textsOfBook(loadBook(locale))) {
    const family = familyOf(placed.file);
    if (family === 'frames' || family === 'labels' || family === 'labels-day') continue;
    const own = Object.values(forms)
      .flatMap(sentencesOf)
      .filter((sentence) => !/[{}]/.test(sentence));
    own.forEach((sentence) => (family === 'under7' ? parents : readers).add(sentence));
  }
  return { parents, readers };
};

const books = new Map<Locale, ReturnType<typeof sentencesOfBooks>>();

/** A reading for parents takes no sentence that speaks to the reader, and the other way round. */
const addresseeFaults = ({ locale, meta }: DocumentV1, prose: readonly string[]): string[] => {
  const { parents, readers } = books.get(locale) ?? sentencesOfBooks(locale);
  books.set(locale, { parents, readers });
  const born = meta.subject.dateOfBirth;
  const isForParents = meta.asOf < `${Number(born.slice(0, 4)) + READER_AGE}${born.slice(4)}`;
  const [own, foreign] = isForParents ? [parents, readers] : [readers, parents];
  return prose
    .flatMap(sentencesOf)
    .filter((sentence) => foreign.has(sentence) && !own.has(sentence))
    .map((sentence) => `speaks to ${isForParents ? 'the child' : 'parents'}: ${sentence}`);
};

/** The faults of a document and its Markdown. */
export const faultsOf = (document: DocumentV1, lint = createLint()): string[] => {
  const passages = document.children.flatMap(passagesOf);
  const ids = document.children.flatMap(nodesOf).flatMap((node) => ('id' in node ? [node.id] : []));
  const told = proseOf(document);
  const prose = told.map((text) => text.replaceAll(document.subtitle, 'N'));
  const markdown = renderMarkdown(document);
  const titles = headingsOf(document).map(({ title }) => title);
  return [
    ...[...textsOf(document), ...passages, ...markdown.split('\n')]
      .filter((text) => LEFT_OVER.test(text))
      .map((text) => `left over in: ${text}`),
    ...passages.filter((text) => text.trim() === '').map(() => 'an empty passage'),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `the id ${id} stands twice`),
    ...titles.filter((title) => title.trim() === '').map(() => 'an empty title'),
    ...schemaFaults(document),
    ...addresseeFaults(document, told),
    ...imagesTwice(document.locale, told),
    ...clashesIn(document.locale, passages),
    ...repeatedSentences(prose).map((text) => `a sentence twice: ${text}`),
    ...repeatedSequences(prose).map((text) => `six words three times: ${text}`),
    ...passages.flatMap((text) => lint(document, text).map((rule) => `${rule}: ${text}`)),
  ];
};

/**
 * Composes and writes the readings of `people` random people in both languages and all three genders, each person in
 * another month of the year than the one before. Yields the faults after each person. A missing key and a tree that breaks its schema are also faults.
 * @param seed of the first person; the others follow
 */
export function* checkReadings(people: number, seed: number): Generator<readonly ReadingFault[]> {
  const lint = createLint();
  for (let each = seed; each < seed + people; each += 1) {
    const faults: ReadingFault[] = [];
    for (const locale of LOCALES) {
      for (const gender of GENDERS) {
        const found = (fault: string) => faults.push({ seed: each, locale, gender, fault });
        try {
          const trial = { person: randomPerson(each), locale, gender, asOf: readingDay(each) };
          faultsOf(trialDocument(trial), lint).forEach(found);
        } catch (error) {
          found(error instanceof Error ? error.message : String(error));
        }
      }
    }
    yield faults;
  }
}
