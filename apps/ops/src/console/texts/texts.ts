import type { Widened } from '../../../../portal/src/texts/en.js';
import type { en } from './en.js';

/** The texts of a language. The compiler compares the other ones with the English. */
export type Words = Widened<typeof en>;
