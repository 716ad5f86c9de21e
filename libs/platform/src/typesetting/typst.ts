import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler';

/** Tagged, with alternative texts, title and language; the exporter itself checks all of it. */
export const PDF_STANDARD = 'ua-1';

/** A Typst template with its fonts, loaded once. Synchronous and CPU-bound. */
export interface TypstTemplate {
  /**
   * A PDF/UA-1 file. The same inputs give the same bytes: it never uses the host's fonts or clock.
   * @param inputs texts that the template reads from `sys.inputs`; data, never markup
   * @throws Error with the compiler's diagnostics
   */
  pdf(inputs: Readonly<Record<string, string>>): Uint8Array;
}

/**
 * A Typst compiler with only these fonts.
 * @param folder absolute; templates may read nothing outside it
 * @param fonts paths inside packages, such as `@expo-google-fonts/…/….ttf`
 */
export const openTypst = (folder: string, fonts: readonly string[]): NodeCompiler => {
  const { resolve } = createRequire(import.meta.url);
  return NodeCompiler.create({
    workspace: folder,
    fontArgs: [{ fontBlobs: fonts.map((font) => readFileSync(resolve(font))) }],
  });
};

/**
 * @param folder absolute; the template may read nothing outside it
 * @param main the template's main file, in the folder
 * @param fonts paths inside packages, such as `@expo-google-fonts/…/….ttf`
 */
export const loadTypstTemplate = (folder: string, main: string, fonts: readonly string[]): TypstTemplate => {
  const compiler = openTypst(folder, fonts);
  return {
    pdf: (inputs) => {
      try {
        return compiler.pdf(
          { mainFilePath: join(folder, main), inputs: { ...inputs } },
          { pdfStandard: PDF_STANDARD },
        );
      } finally {
        // Clears Typst's memoisation, which would grow with every document.
        compiler.evictCache(0);
      }
    },
  };
};
