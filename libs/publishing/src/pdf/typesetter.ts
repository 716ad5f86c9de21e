import { join } from 'node:path';
import type { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { projectPath } from '#platform/project-path.js';
import { openTypst, taggedPdf, packed } from '#platform/typesetting/typst.js';
import type { Paper } from '#workspaces/contracts/index.js';
import type { DocumentV1 } from '../document/document.js';
import { bookletOf, sheetOf } from './booklet.js';

const TEMPLATE_FOLDER = projectPath('libs/publishing/src/pdf/template');

/** In packages. */
export const FONTS = [
  '@expo-google-fonts/source-serif-4/300Light/SourceSerif4_300Light.ttf',
  '@expo-google-fonts/source-serif-4/400Regular/SourceSerif4_400Regular.ttf',
  '@expo-google-fonts/source-serif-4/400Regular_Italic/SourceSerif4_400Regular_Italic.ttf',
  '@expo-google-fonts/source-serif-4/600SemiBold/SourceSerif4_600SemiBold.ttf',
  '@expo-google-fonts/source-sans-3/400Regular/SourceSans3_400Regular.ttf',
  // Only for letters with marks: see document.typ.
  '@expo-google-fonts/source-serif-4/200ExtraLight/SourceSerif4_200ExtraLight.ttf',
  '@expo-google-fonts/source-serif-4/500Medium/SourceSerif4_500Medium.ttf',
  '@expo-google-fonts/source-sans-3/500Medium/SourceSans3_500Medium.ttf',
];

const SOURCE = { mainFilePath: join(TEMPLATE_FOLDER, 'document.typ') };
const DATA = join(TEMPLATE_FOLDER, 'booklet.json');

/**
 * The cache drops paragraphs that none of the last N documents used. Readings share most of their paragraphs, and a
 * cache hit costs far less than typesetting. Each document takes about 6 MB.
 */
const KEPT_DOCUMENTS = 40;
/** Looking for what to drop takes a fifth of a document's time, so it is done once for this many. */
const EVICT_EVERY = 8;

/** Call it after each document: every so often it drops what the last documents did not use. */
export const keptBetween = (compiler: NodeCompiler): (() => void) => {
  let documents = 0;
  return () => {
    documents += 1;
    // Its unit of age is a call.
    if (documents % EVICT_EVERY === 0) compiler.evictCache(KEPT_DOCUMENTS / EVICT_EVERY - 1);
  };
};

/** Full-width letters and ligatures. Our text fonts lack them, so they print as the letters they stand for. */
const COMPATIBILITY_LETTERS = /[\uFB00-\uFB06\uFF21-\uFF5A]/g;

/** Loads a Typst compiler with our fonts and template. It works synchronously, so run it in a worker thread. */
export const createTypesetter = () => {
  const compiler = openTypst(TEMPLATE_FOLDER, FONTS);
  const evict = keptBetween(compiler);
  return {
    /**
     * Typesets the document as a PDF/UA-1 file. The same tree gives the same bytes: only our own fonts are used, and the
     * only date is `meta.publishedAt`. A letter missing in all fonts prints as an empty box; the file is still tagged,
     * but does not claim PDF/UA-1.
     * @throws Error with the compiler's diagnostics
     */
    typeset: (document: DocumentV1, paper: Paper = 'by-locale'): Uint8Array => {
      const booklet = bookletOf(document, sheetOf(paper, document.locale));
      const data = JSON.stringify(booklet)
        .normalize('NFC')
        .replace(COMPATIBILITY_LETTERS, (letter) => letter.normalize('NFKC'));
      compiler.mapShadow(DATA, Buffer.from(data));
      try {
        return packed(taggedPdf(compiler, SOURCE));
      } finally {
        compiler.unmapShadow(DATA);
        evict();
      }
    },
    /** Clears the cache of earlier documents. All typesetters of the process share it. */
    forget: (): void => compiler.evictCache(0),
  };
};

export type Typesetter = ReturnType<typeof createTypesetter>;
