import { categoryOf } from '../core/stream-name.js';

/** Some of a store's streams. */
export interface StreamSelection {
  readonly categories: readonly string[];
}

export const isSelected = ({ categories }: StreamSelection, stream: string): boolean =>
  categories.includes(categoryOf(stream));
