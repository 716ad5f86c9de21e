import {
  ACTUAL_TEXT,
  bytesOf,
  type CharMap,
  charMapOf,
  objectsOf,
  plainText,
  streamOf,
  textOf,
  TITLE,
  TOKEN,
} from './pdf-file.js';

/** What a test reads from a PDF that our own typesetter wrote. Not a general PDF reader. */
export interface PdfContents {
  readonly pages: number;
  /** The text of the pages in content order, without artifacts (running heads, page numbers, drawn ornaments). */
  readonly text: string;
  /** All text of each page, artifacts included. */
  readonly printed: readonly string[];
  /** Titles of the bookmarks, in order. */
  readonly outline: readonly string[];
  /** Its objects as plain text, to search for entries such as `/Lang`. */
  readonly source: string;
}

const decode = (token: string, characters: CharMap): string => {
  const bytes = bytesOf(token);
  let text = '';
  for (let index = 0; index + 1 < bytes.length; index += 2) {
    text += characters.get(bytes.charCodeAt(index) * 256 + bytes.charCodeAt(index + 1)) ?? '\uFFFD';
  }
  return text;
};

/**
 * The text of a content stream. In nested marked content, `/ActualText` replaces it.
 * @param hidesArtifacts leaves out artifacts, as readers of the text do
 */
const shownText = (content: string, fonts: ReadonlyMap<string, CharMap>, hidesArtifacts: boolean): string => {
  const marks: { hidden: boolean }[] = [];
  const operands: string[] = [];
  let characters: CharMap = new Map();
  let text = '';
  for (const [token] of content.matchAll(TOKEN)) {
    if (/^[/(<\d.-]/.test(token)) {
      operands.push(token);
      continue;
    }
    const hidden = marks.at(-1)?.hidden ?? false;
    if (token === 'BMC' || token === 'BDC') {
      const actual = ACTUAL_TEXT.exec(operands.join(' '))?.[1];
      if (actual !== undefined && !hidden) text += textOf(actual);
      marks.push({
        hidden: hidden || (hidesArtifacts && operands[0] === '/Artifact') || actual !== undefined,
      });
    } else if (token === 'EMC') marks.pop();
    else if (token === 'Tf') characters = fonts.get(operands[0] ?? '') ?? new Map<number, string>();
    else if (token === 'Tj' || token === 'TJ') {
      const strings = operands.filter((operand) => /^[(<]/.test(operand));
      if (!hidden) text += strings.map((operand) => decode(operand, characters)).join('');
    }
    operands.length = 0;
  }
  return text;
};

export const readPdf = (pdf: Uint8Array): PdfContents => {
  const objects = objectsOf(pdf);
  const object = (id: string | undefined): string => objects.get(id ?? '') ?? '';
  const reference = (body: string, key: string): string =>
    object(new RegExp(`/${key} (\\d+) 0 R`).exec(body)?.[1]);

  const tree = [...objects.values()].find((body) => body.includes('/Type /Pages')) ?? '';
  const pages = [...(/\/Kids \[([^\]]*)\]/.exec(tree)?.[1] ?? '').matchAll(/(\d+) 0 R/g)].map(([, id]) =>
    object(id),
  );
  const texts = pages.map((page) => {
    const fontList = /\/Font <<([\s\S]*?)>>/.exec(page)?.[1] ?? '';
    const fonts = new Map(
      [...fontList.matchAll(/(\/f\d+) (\d+) 0 R/g)].map(([, name = '', id]) => [
        name,
        charMapOf(streamOf(reference(object(id), 'ToUnicode'))),
      ]),
    );
    const content = streamOf(reference(page, 'Contents'));
    return { text: shownText(content, fonts, true), printed: shownText(content, fonts, false) };
  });

  const bookmarks = (node: string): string[] => {
    if (node === '') return [];
    const title = TITLE.exec(node)?.[1];
    return [
      ...(title ? [textOf(title)] : []),
      ...bookmarks(reference(node, 'First')),
      ...bookmarks(reference(node, 'Next')),
    ];
  };
  const outlines = [...objects.values()].find((body) => body.includes('/Type /Outlines')) ?? '';
  return {
    pages: pages.length,
    text: texts.map(({ text }) => text).join('\n'),
    printed: texts.map(({ printed }) => printed),
    outline: bookmarks(reference(outlines, 'First')),
    source: plainText(pdf),
  };
};
