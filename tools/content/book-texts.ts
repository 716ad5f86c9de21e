import { BOOK, familyOf } from '#publishing/content/book/families.js';
import { loadFile, type LoadedFile, type PlacedEntry } from '#publishing/content/book/book.js';
import type { AgeBand } from '#publishing/content/book/shape.js';
import type { Forms } from '#publishing/content/message.js';
import type { Locale } from '#publishing/document/document.js';

/** One text of the book as it is printed, with the place where an author finds it. */
export interface BookText {
  /** `life-path/7 drive[2]`, `… ages 7-15` */
  readonly at: string;
  readonly placed: PlacedEntry;
  readonly forms: Forms;
  /** Undefined for the text without a band. */
  readonly band?: AgeBand;
}

/** What is wrong with a text, where an author finds it. */
export interface BookFault {
  readonly at: string;
  readonly fault: string;
  readonly text?: string;
}

const textsOfEntry = (placed: PlacedEntry): BookText[] =>
  placed.entry.flatMap((form, index) => {
    const at = `${placed.file} ${placed.path}${placed.entry.length > 1 ? `[${index + 1}]` : ''}`;
    const ages = Object.entries(form.ages) as [AgeBand, Forms][];
    return [
      { at, placed, forms: form.text },
      ...ages.map(([band, forms]) => ({ at: `${at} ages ${band}`, placed, forms, band })),
    ];
  });

export const textsOf = (files: readonly LoadedFile[]): BookText[] =>
  files.flatMap(({ entries }) => entries.flatMap(textsOfEntry));

/** Every file of a language, or those of `families` (`pairs-path`) or single files (`pairs-path/4`). */
export const loadBook = (locale: Locale, families: readonly string[] = []): LoadedFile[] =>
  Object.keys(BOOK)
    .filter(
      (file) =>
        families.length === 0 || families.some((name) => file === name || file.startsWith(`${name}/`)),
    )
    .map((file) => loadFile(locale, file));

export const isForParents = (file: string): boolean =>
  familyOf(file) === 'under7' || file === 'frames/under7';
