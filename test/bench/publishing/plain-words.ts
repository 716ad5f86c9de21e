import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { openTypst, PDF_STANDARD } from '#platform/typesetting/typst.js';
import type { Block, DocumentV1, Section } from '#publishing/document/document.js';
import { textsOf } from '#publishing/document/walk.js';
import { FONTS, keptBetween } from '#publishing/pdf/typesetter.js';

const FOLDER = projectPath('test/bench/publishing');

const paragraphsIn = (nodes: readonly (Block | Section)[]): string[] =>
  nodes.flatMap((node) =>
    node.type === 'section'
      ? [node.title, ...paragraphsIn(node.children)]
      : [textsOf({ title: '', subtitle: '', details: [], children: [node as never] }).join(' ')],
  );

/** Typesets the words of documents without the template. Each block is a paragraph; figures are left out. */
export const createPlainTypesetter = () => {
  const compiler = openTypst(FOLDER, FONTS);
  const evict = keptBetween(compiler);
  return {
    typeset: ({ locale, children }: DocumentV1): void => {
      const words = { language: locale.slice(0, 2), paragraphs: paragraphsIn(children) };
      compiler.mapShadow(join(FOLDER, 'words.json'), Buffer.from(JSON.stringify(words)));
      compiler.pdf({ mainFilePath: join(FOLDER, 'plain.typ') }, { pdfStandard: PDF_STANDARD });
      evict();
    },
    forget: () => compiler.evictCache(0),
  };
};
