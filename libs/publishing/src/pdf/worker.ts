import { move } from 'piscina';
import type { DocumentV1 } from '../document/document.js';
import { createTypesetter, type Typesetter } from './typesetter.js';

/** What is kept to set the next document sooner holds the texts of persons: it does not outlast a quiet spell. */
const FORGET_AFTER_MS = 30_000;

let typesetter: Typesetter | undefined;
let quiet: NodeJS.Timeout | undefined;

/** Entry of a renderer thread: one document in, its PDF out, moved rather than copied. */
export default (document: DocumentV1) => {
  typesetter ??= createTypesetter();
  clearTimeout(quiet);
  quiet = setTimeout(() => typesetter?.forget(), FORGET_AFTER_MS).unref();
  return move(Uint8Array.from(typesetter.typeset(document)));
};
