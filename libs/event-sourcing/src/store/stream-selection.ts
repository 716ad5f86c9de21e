import { categoryOf } from '../core/stream-name.js';

/** Some of a store's streams. */
export interface StreamSelection {
  readonly categories: readonly string[];
}

export const isSelected = ({ categories }: StreamSelection, stream: string): boolean =>
  categories.includes(categoryOf(stream));

/**
 * The selection as a regular expression of the server (.NET and JavaScript). It may match more in a name that has line
 * breaks, so the reader looks again with {@link isSelected}.
 */
export const patternOf = ({ categories }: StreamSelection): string => `^(?:${categories.join('|')})(?:-|$)`;
