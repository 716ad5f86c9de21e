import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { NodeCompiler, type CompileDocArgs } from '@myriaddreamin/typst-ts-node-compiler';

/** Tagged, with alternative texts, title and language; the exporter itself checks all of it. */
export const PDF_STANDARD = 'ua-1';
const MISSING_LETTER = 'could not be displayed with';

/**
 * A PDF/UA-1 file. A letter missing in all fonts prints as an empty box; the file is still tagged, but does not claim
 * PDF/UA-1.
 * @throws Error with the compiler's diagnostics
 */
export const taggedPdf = (compiler: NodeCompiler, source: CompileDocArgs): Buffer => {
  try {
    return compiler.pdf(source, { pdfStandard: PDF_STANDARD });
  } catch (error) {
    if (String(error).includes(MISSING_LETTER)) return compiler.pdf(source);
    throw error;
  }
};

/** A Typst template with its fonts, loaded once. Synchronous and CPU-bound. */
export interface TypstTemplate {
  /**
   * A tagged PDF. The same inputs give the same bytes: it never uses the host's fonts or clock.
   * @param inputs texts that the template reads from `sys.inputs`; data, never markup
   * @throws Error with the compiler's diagnostics
   */
  pdf(inputs: Readonly<Record<string, string>>): Buffer;
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
        return taggedPdf(compiler, { mainFilePath: join(folder, main), inputs: { ...inputs } });
      } finally {
        // Clears Typst's memoisation, which would grow with every document.
        compiler.evictCache(0);
      }
    },
  };
};
