import { move } from 'piscina';
import type { DocumentV1 } from '../document/document.js';
import { createTypesetter, type Typesetter } from './typesetter.js';

let typesetter: Typesetter | undefined;

/** Entry of a renderer thread: one document in, its PDF out, moved rather than copied. */
export default (document: DocumentV1) => {
  typesetter ??= createTypesetter();
  return move(Uint8Array.from(typesetter.typeset(document)));
};
