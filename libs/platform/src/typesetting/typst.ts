import { zlibSync } from 'fflate';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { NodeCompiler, type CompileDocArgs } from '@myriaddreamin/typst-ts-node-compiler';

/** Higher levels cost more time than they save bytes. */
const LEVEL = 3;

const TABLE_HEAD = /^xref\n0 (\d+)\n/;
const TABLE_ENTRY = 20;
/** The longest end of an object with a stream: `endstream`, `endobj` and line ends. */
const STREAM_END = 22;

/** The objects of a file in the order of their bytes, how many numbers they use, and the entries of the trailer. */
const partsOf = (text: string) => {
  const table = Number(/startxref\n(\d+)\n%%EOF\s*$/.exec(text.slice(-40))?.[1]);
  const [head = '', size] = TABLE_HEAD.exec(text.slice(table, table + TABLE_ENTRY)) ?? [];
  const count = Number(size);
  const entries = table + head.length;
  const starts = Array.from({ length: count }, (_, id) => {
    const entry = text.slice(entries + id * TABLE_ENTRY, entries + (id + 1) * TABLE_ENTRY);
    return { id, start: Number(entry.slice(0, 10)), isUsed: entry[17] === 'n' };
  });
  const used = starts.filter(({ isUsed }) => isUsed).sort((a, b) => a.start - b.start);
  const objects = used.map(({ id, start }, index) => ({ id, start, end: used[index + 1]?.start ?? table }));
  const trailer = text.slice(entries + count * TABLE_ENTRY, text.lastIndexOf('>>'));
  return { objects, count, trailer: trailer.slice(trailer.indexOf('/Root')).trimEnd() };
};

const compressed = (id: number, dictionary: string, content: Uint8Array): Buffer => {
  const bytes = zlibSync(content, { level: LEVEL });
  const head = `${id} 0 obj\n<<\n${dictionary}\n/Filter /FlateDecode\n/Length ${bytes.length}\n>>\nstream\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes, Buffer.from('\nendstream\nendobj\n\n')]);
};

/** Bytes of a row of the packed file's table: what the object is, its place, and its index in the pack. */
const ROW = [1, 4, 2] as const;
const ROW_LENGTH = 7;
const FREE = 0;
const WHOLE = 1;
const PACKED = 2;

/**
 * The same PDF in little more than half the bytes. Objects that are no streams, mostly the tags of the text, move into
 * one compressed stream (ISO 32000-1, 7.5.7), and their table into another (7.5.8). The bytes are the same on every
 * machine and with every Node. Zlib does not promise that.
 * @param pdf as Typst writes it: one cross-reference table, and objects of generation 0
 */
export const packed = (pdf: Buffer): Uint8Array => {
  const text = pdf.toString('latin1');
  const { objects, count, trailer } = partsOf(text);
  const [packId, tableId] = [count, count + 1];
  const table = Buffer.alloc((count + 2) * ROW_LENGTH);
  const enter = (id: number, kind: number, place: number, index: number): void => {
    const row = id * ROW_LENGTH;
    table.writeUInt8(kind, row);
    table.writeUInt32BE(place, row + 1);
    table.writeUInt16BE(index, row + 5);
  };
  enter(0, FREE, 0, 65_535);

  const whole = [pdf.subarray(0, objects[0]?.start)];
  let length = whole[0]!.length;
  const put = (id: number, object: Buffer): void => {
    enter(id, WHOLE, length, 0);
    whole.push(object);
    length += object.length;
  };

  const places: string[] = [];
  let bodies = '';
  for (const { id, start, end } of objects) {
    if (text.slice(end - STREAM_END, end).includes('endstream')) {
      put(id, pdf.subarray(start, end));
    } else {
      enter(id, PACKED, packId, places.length);
      places.push(`${id} ${bodies.length}`);
      bodies += text.slice(text.indexOf('\n', start) + 1, text.lastIndexOf('endobj', end));
    }
  }
  const head = `${places.join(' ')}\n`;
  const pack = `/Type /ObjStm\n/N ${places.length}\n/First ${head.length}`;
  put(packId, compressed(packId, pack, Buffer.from(head + bodies, 'latin1')));
  const at = length;
  enter(tableId, WHOLE, at, 0);
  const rows = `/Type /XRef\n/Size ${count + 2}\n/W [${ROW.join(' ')}]\n${trailer}`;
  whole.push(compressed(tableId, rows, table), Buffer.from(`startxref\n${at}\n%%EOF\n`));
  return Buffer.concat(whole);
};

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
