import type { Forms } from '@app/publishing/content/message.js';
import type { LoadedFile, PlacedEntry } from '@app/publishing/content/book/load.js';
import type { AgeBand } from '@app/publishing/content/book/shape.js';

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

export const wordsIn = (text: string): number =>
  text.match(/[\p{L}\p{N}{}]+(?:[’'-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
