import { FRAME_FAMILIES } from './frame-families.js';
import { PERSON_FAMILIES } from './person-families.js';
import type { ShapeTree } from './shape.js';
import { TIME_FAMILIES } from './time-families.js';
import { UNDER_SEVEN_FAMILIES } from './under7-families.js';

/** The shape of each file of the book, the same for every language; the key is its path without the ending. */
export const BOOK: Readonly<Record<string, ShapeTree>> = {
  ...PERSON_FAMILIES,
  ...TIME_FAMILIES,
  ...UNDER_SEVEN_FAMILIES,
  ...FRAME_FAMILIES,
};

/** The family of a file: its folder, or the file itself. */
export const familyOf = (file: string): string => file.split('/')[0] ?? file;
