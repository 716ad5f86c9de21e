import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';
import { projectPath } from '@app/platform/project-path.js';
import type { DocumentV1 } from '../document/document.js';

const FONTS = [
  '@expo-google-fonts/source-serif-4/300Light/SourceSerif4_300Light.ttf',
  '@expo-google-fonts/source-serif-4/400Regular/SourceSerif4_400Regular.ttf',
  '@expo-google-fonts/source-serif-4/400Regular_Italic/SourceSerif4_400Regular_Italic.ttf',
  '@expo-google-fonts/source-serif-4/600SemiBold/SourceSerif4_600SemiBold.ttf',
  '@expo-google-fonts/source-sans-3/400Regular/SourceSans3_400Regular.ttf',
  '@expo-google-fonts/source-sans-3/600SemiBold/SourceSans3_600SemiBold.ttf',
];

/** Tagged, with alternative texts, title and language checked by the exporter itself. */
const STANDARD = 'ua-1';

export interface Typesetter {
  /**
   * The document as a PDF/UA-1 file. The same tree gives the same bytes: fonts are our own, the host's are never
   * looked up, and the only date inside is `meta.publishedAt`.
   * @throws Error with the compiler's diagnostics
   */
  typeset(document: DocumentV1): Uint8Array;
}

/** A Typst compiler with our fonts and template loaded. Synchronous and busy: it belongs in a worker thread. */
export const createTypesetter = (): Typesetter => {
  const { resolve } = createRequire(import.meta.url);
  const compiler = NodeCompiler.create({
    workspace: projectPath('libs/publishing/src/pdf/template'),
    fontArgs: [{ fontBlobs: FONTS.map((font) => readFileSync(resolve(font))) }],
  });
  return {
    typeset: (document) => {
      try {
        return compiler.pdf(
          {
            mainFilePath: projectPath('libs/publishing/src/pdf/template/document.typ'),
            inputs: { document: JSON.stringify(document) },
          },
          { pdfStandard: STANDARD },
        );
      } finally {
        // What Typst memoises holds the person's text, and would grow with every reading.
        compiler.evictCache(0);
      }
    },
  };
};
