import type { ReadingResult } from '#numerology/index.js';
import { bookFor } from '#publishing/content/book/book.js';
import { pick, personKey } from '#publishing/document/choice.js';
import type { Locale } from '#publishing/document/document.js';
import { planTexts } from '#publishing/document/truth.js';
import { loadBook } from './book-texts.js';

/** How often the readers of one entry get its most frequent form. */
export interface Choice {
  /** `life-path/7 cost` */
  readonly key: string;
  readonly forms: number;
  /** From 1. */
  readonly favorite: number;
  readonly share: number;
  readonly readers: number;
}

/** Forms that are printed together: a list, and no choice. */
const LISTS = ['frames/method conventions', 'frames/method uses'];

const MOST_SHARE = 0.4;
/** An entry that few people read shows chance first, so a share counts once it lies so many standard errors above. */
const CERTAINTY = 3;

/**
 * For each entry with several forms, the form that most of its readers get. An entry that the plan of a reading does not
 * choose goes by the hash, for whoever reads it.
 */
export const choicesOf = (locale: Locale, results: readonly ReadingResult[]): Choice[] => {
  const book = bookFor(locale);
  const readers = results.map((result) => ({ person: personKey(result), plan: planTexts(book, result) }));
  const entries = loadBook(locale).flatMap(({ entries: placed }) => placed);
  return entries.flatMap(({ file, path, entry, shape }) => {
    const key = `${file} ${path}`;
    if (entry.length < 2 || LISTS.includes(key)) return [];
    const counts = entry.map(() => 0);
    const forms = book.entry(key);
    for (const { person, plan } of readers) {
      const planned = plan.forms.get(key);
      if (!planned && shape.traits) continue;
      const at = planned ? forms.indexOf(planned) : pick(person, key, forms.length);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    const total = counts.reduce((sum, count) => sum + count, 0);
    const most = Math.max(...counts);
    return total === 0
      ? []
      : [
          {
            key,
            forms: forms.length,
            favorite: counts.indexOf(most) + 1,
            share: most / total,
            readers: total,
          },
        ];
  });
};

/** The share that more readers would hardly undercut. */
export const sureShare = ({ share, readers }: Choice): number =>
  share - CERTAINTY * Math.sqrt((MOST_SHARE * (1 - MOST_SHARE)) / readers);

/** Whether so many readers get one form that an entry offers less choice than it seems to. */
export const isLopsided = (choice: Choice): boolean => sureShare(choice) > MOST_SHARE;
