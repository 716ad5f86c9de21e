import { BOOK, familyOf } from '#publishing/content/book/families.js';
import type { LoadedFile, PlacedEntry } from '#publishing/content/book/book.js';
import { AGE_BANDS } from '#publishing/content/book/shape.js';
import type { Locale } from '#publishing/document/document.js';
import { EARLIER, FALSE_SCENES, UNFIT, UNSAFE } from './book-rules.js';
import { type BookFault, type BookText, isForParents, loadBook, textsOf } from './book-texts.js';
import { FRENCH_AGREEMENT, brokenRules, keepsAgreement } from './lint.js';
import { repetitions } from './repetition.js';
import { sentencesOf, wordsIn } from './text.js';

/** A text may be this much shorter or longer than its shape says; one for an age a little more. */
const TOLERANCE = 0.2;
const AGE_TOLERANCE = 0.3;
/** A text this short may miss its length by a few words. */
const SLACK_WORDS = 5;
const MOST_WORDS_IN_SENTENCE = 45;

const agreement = new Set(Object.keys(FRENCH_AGREEMENT).filter((name) => name !== 'two genders in one word'));

const lengthFaults = ({ at, placed, forms, band }: BookText): BookFault[] => {
  const { words } = placed.shape;
  if (words === null) return [];
  const tolerance = Math.max(words * (band ? AGE_TOLERANCE : TOLERANCE), SLACK_WORDS);
  const [least, most] = [Math.ceil(words - tolerance), Math.floor(words + tolerance)];
  const count = wordsIn(forms.neutral);
  return count < least || count > most ? [{ at, fault: `${count} words instead of ${least}–${most}` }] : [];
};

const ruleFaults = (locale: Locale, { at, placed, forms }: BookText): BookFault[] => {
  const gendered = forms.feminine !== forms.masculine;
  const broken = [...new Set(Object.values(forms))].flatMap((text) => [
    ...brokenRules(locale, text)
      // A whole sentence for each gender may agree.
      .filter((rule) => !(gendered && text !== forms.neutral && agreement.has(rule)))
      // A label is no sentence.
      .filter((rule) => placed.shape.words !== null || rule !== 'digit at the head of a sentence')
      .map((fault) => ({ at, fault, text })),
    ...sentencesOf(text)
      .filter((sentence) => wordsIn(sentence) > MOST_WORDS_IN_SENTENCE)
      .map((sentence) => ({ at, fault: 'a sentence over 45 words', text: sentence })),
  ]);
  const kept = keepsAgreement(forms)
    ? [{ at, fault: 'neutral form keeps an agreeing word', text: forms.neutral }]
    : [];
  if (locale === 'en-US' && gendered) return [...broken, { at, fault: 'English needs no gender forms' }];
  return [...broken, ...kept];
};

/** Texts of a stage that may be the first: the first period, any current pinnacle, and what the synthesis says of them. */
const isOfFirstStage = ({ file, path }: PlacedEntry): boolean =>
  ['periods/first', 'pinnacles/current'].includes(file) ||
  (/^synthesis\/(?:moment|tension)$/.test(file) && path.endsWith('.first')) ||
  (file === 'challenges' && path.endsWith('.early')) ||
  (familyOf(file) === 'under7' && /^(?:period|pinnacle)$/.test(path));

/** Things that no small child should be near, in the texts for parents; an earlier time, in those of a first stage. */
const misplacedFaults = (locale: Locale, { at, placed, forms }: BookText): BookFault[] => {
  const [thing] = isForParents(placed.file) ? (UNSAFE[locale].exec(forms.neutral) ?? []) : [];
  const [time] = isOfFirstStage(placed) ? (EARLIER[locale].exec(forms.neutral) ?? []) : [];
  return [
    ...(thing === undefined ? [] : [{ at, fault: `unsafe for a small child: "${thing}"` }]),
    ...(time === undefined ? [] : [{ at, fault: `compares with an earlier time: "${time}"` }]),
  ];
};

/** Two numbers with one label at one position. */
const labelFaults = (files: readonly LoadedFile[]): BookFault[] =>
  files
    .filter(({ file }) => familyOf(file).startsWith('labels'))
    .flatMap(({ entries }) => {
      const holders = new Map<string, string>();
      return entries.flatMap(({ file, path, entry }) => {
        const [number, ...position] = path.split('.');
        const label = `${position.join('.')} ${entry[0]?.text.neutral ?? ''}`;
        const other = holders.get(label);
        holders.set(label, number ?? '');
        return other === undefined ? [] : [{ at: `${file} ${path}`, fault: `has the label of ${other}` }];
      });
    });

/** The texts that a reader of each age gets, where a scene rings false or is unfit for the age. */
const sceneFaults = (locale: Locale, files: readonly LoadedFile[]): BookFault[] =>
  files
    .filter(({ file }) => !isForParents(file))
    .flatMap(({ entries }) => entries)
    .flatMap(({ file, path, entry }) =>
      entry.flatMap((form, index) =>
        AGE_BANDS.flatMap((band) => {
          const text = (form.ages[band] ?? form.text).neutral;
          const [scene] = FALSE_SCENES[locale][band]?.exec(text) ?? [];
          const [unfit] = UNFIT[locale][band].exec(text) ?? [];
          const at = `${file} ${path}${entry.length > 1 ? `[${index + 1}]` : ''}`;
          return [
            ...(scene === undefined ? [] : [{ at, fault: `rings false at ${band}: "${scene}"` }]),
            ...(unfit === undefined ? [] : [{ at, fault: `unfit at ${band}: "${unfit}"` }]),
          ];
        }),
      ),
    );

/** Frames of which a language has no entry, or whose placeholders differ: composition fills both in alike. */
export const parityFaults = (): string[] => {
  const frames = Object.keys(BOOK).filter((file) => familyOf(file) === 'frames');
  const keysOf = (locale: Locale): Set<string> =>
    new Set(
      loadBook(locale, frames)
        .flatMap(({ entries }) => entries)
        .map(({ file, path, shape }) => `${file} ${path} (${shape.uses.join(', ')})`),
    );
  const [french, english] = [keysOf('fr-FR'), keysOf('en-US')];
  return [
    ...[...french].filter((key) => !english.has(key)).map((key) => `only in French: ${key}`),
    ...[...english].filter((key) => !french.has(key)).map((key) => `only in English: ${key}`),
  ];
};

/**
 * The faults of `files` of one language. Gaps are none.
 * @param book the files that `files` may repeat, themselves included
 */
export const checkBook = (
  locale: Locale,
  files: readonly LoadedFile[],
  book: readonly LoadedFile[] = files,
): BookFault[] => {
  const texts = textsOf(files);
  return [
    ...files.flatMap(({ file, faults }) => faults.map((fault) => ({ at: file, fault }))),
    ...texts.flatMap(lengthFaults),
    ...texts.flatMap((text) => ruleFaults(locale, text)),
    ...texts.flatMap((text) => misplacedFaults(locale, text)),
    ...labelFaults(files),
    ...sceneFaults(locale, files),
    ...repetitions(locale, files, book),
  ];
};
