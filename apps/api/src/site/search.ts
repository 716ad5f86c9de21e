/** A part of a page that a reader can find: a heading and the text below it. */
export interface Section {
  /** Its address, with the anchor. */
  readonly path: string;
  /** The title of its page. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
  readonly lang: 'en' | 'fr';
}

export interface Hit {
  readonly section: Section;
  /** Text around the first word that was found, in alternating parts: plain, found, plain, … */
  readonly excerpt: readonly string[];
}

const MOST_WORDS = 6;
const MOST_HITS = 20;
const EXCERPT = { before: 60, length: 220 };

/** Lower case without accents, so that `echec` finds `Échec`; as many characters as the text in Latin letters. */
const plain = (text: string): string =>
  text.normalize('NFC').toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '');

/** A search over sections. Looks at each of them, which takes less than a millisecond for a hundred pages. */
export const searchIn = (sections: readonly Section[]): ((query: string) => readonly Hit[]) => {
  const entries = sections.map((section) => ({
    section,
    title: plain(section.title),
    page: plain(section.page),
    text: plain(section.text),
  }));
  return (query) => {
    const words = [
      ...new Set(
        plain(query)
          .split(/[\s"]+/)
          .filter(Boolean),
      ),
    ].slice(0, MOST_WORDS);
    if (words.length === 0) return [];
    return entries
      .map(({ section, title, page, text }) => {
        const scores = words.map(
          (word) =>
            (title.includes(word) ? 8 : 0) +
            (title === word ? 8 : 0) +
            (page.includes(word) ? 3 : 0) +
            Math.min(text.split(word).length - 1, 3),
        );
        const score = scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one);
        return { section, text, score };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, MOST_HITS)
      .map(({ section, text }) => ({ section, excerpt: excerptOf(section.text, text, words) }));
  };
};

const excerptOf = (shown: string, text: string, words: readonly string[]): readonly string[] => {
  const places = words.map((word) => text.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - EXCERPT.before);
  const start = first === 0 ? 0 : text.lastIndexOf(' ', first) + 1;
  const end = start + EXCERPT.length;
  const word = new RegExp(`(${words.map(literally).join('|')})`);
  // Cut where the plain text has the words, because the shown text may have accents.
  let at = start;
  const parts = text
    .slice(start, end)
    .split(word)
    .map(({ length }) => shown.slice(at, (at += length)));
  const [before = '', ...others] = parts;
  return [`${start > 0 ? '… ' : ''}${before}`, ...others, ...(end < shown.length ? ['', ' …'] : [])];
};

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
