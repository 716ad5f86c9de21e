import { move } from 'piscina';
import type { RenderTask } from './renderer.js';
import { createTypesetter, type Typesetter } from './typesetter.js';

/** The typesetter's cache contains personal texts, so it is cleared after this idle time. */
const FORGET_AFTER_MS = 30_000;

let typesetter: Typesetter | undefined;
let quiet: NodeJS.Timeout | undefined;

/** Entry point of a renderer thread: typesets one document, and moves its PDF to the caller instead of copying it. */
export default ({ document, paper }: RenderTask) => {
  typesetter ??= createTypesetter();
  clearTimeout(quiet);
  quiet = setTimeout(() => typesetter?.forget(), FORGET_AFTER_MS).unref();
  return move(Uint8Array.from(typesetter.typeset(document, paper)));
};
