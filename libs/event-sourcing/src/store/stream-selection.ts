import { categoryOf } from '../core/stream-name.js';

/** Some of a store's streams. */
export interface StreamSelection {
  readonly categories: readonly string[];
  /** Only one of `of` parts of them. Each stream is in exactly one part, and the parts are of similar size. */
  readonly part?: { readonly index: number; readonly of: number };
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** By its last two characters: those of random ids are evenly spread. Names that end otherwise are in the first part. */
const partOf = (stream: string, of: number): number => {
  const [one, two] = [stream.at(-2), stream.at(-1)].map((character) => ALPHABET.indexOf(character ?? '-'));
  return one! < 0 || two! < 0 ? 0 : (one! + two!) % of;
};

export const isSelected = ({ categories, part }: StreamSelection, stream: string): boolean =>
  categories.includes(categoryOf(stream)) && (!part || partOf(stream, part.of) === part.index);

/**
 * The selection as a regular expression of the server (.NET and JavaScript). It may match more in a name that has line
 * breaks, so the reader looks again with {@link isSelected}.
 */
export const patternOf = ({ categories, part }: StreamSelection): string => {
  const ofCategory = `^(?=(?:${categories.join('|')})(?:-|$))`;
  if (!part) return ofCategory;
  const { index, of } = part;
  const rest = (remainder: number): string =>
    [...ALPHABET].filter((_, value) => value % of === remainder).join('');
  const pairs = Array.from(
    { length: of },
    (_, first) => `[${rest(first)}][${rest((index - first + of) % of)}]`,
  );
  const endings = index === 0 ? [...pairs, '[^0-9A-Za-z][\\s\\S]?'] : pairs;
  return `${ofCategory}[\\s\\S]*(?:${endings.join('|')})$`;
};
