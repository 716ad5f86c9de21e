import { inflateSync } from 'node:zlib';

/** The parts of a PDF file that our own typesetter writes. Not a general PDF reader. */

export type CharMap = ReadonlyMap<number, string>;

const OBJECT = /(\d+) 0 obj\n([\s\S]*?)\nendobj/g;

/** A literal string. Balanced parentheses in it need no escape. */
const literal = (depth: number): string =>
  String.raw`\((?:\\[\s\S]|[^\\()]${depth > 0 ? `|${literal(depth - 1)}` : ''})*\)`;
const LITERAL = literal(5);
const HEXADECIMAL = '<[0-9A-Fa-f\\s]*>';
const STRING = `${LITERAL}|${HEXADECIMAL}`;

// A dictionary (whole), a name, a string, or an operator or number.
export const TOKEN = new RegExp(String.raw`<<[\s\S]*?>>|/[^\s/<>[\]()]+|${STRING}|[^\s[\]()<>/]+`, 'g');
export const ACTUAL_TEXT = new RegExp(`/ActualText (${STRING})`);
export const TITLE = new RegExp(`/Title (${STRING})`);

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

const unescaped = (token: string): string =>
  token
    .slice(1, -1)
    .replace(/\\([0-7]{1,3}|[\s\S])/g, (_, code: string) =>
      /^[0-7]/.test(code) ? String.fromCharCode(parseInt(code, 8)) : (ESCAPES[code] ?? code),
    );

/** The bytes of a string token, one character each. */
export const bytesOf = (token: string): string =>
  token.startsWith('(')
    ? unescaped(token)
    : Buffer.from(token.replace(/[<>\s]/g, ''), 'hex').toString('latin1');

/** A text string: UTF-16 when it has a byte order mark, else one byte per character. */
export const textOf = (token: string): string => {
  const bytes = bytesOf(token);
  if (!bytes.startsWith('\u00FE\u00FF')) return bytes;
  return Buffer.from(bytes.slice(2), 'latin1').swap16().toString('utf16le');
};

/** The bytes of a stream, one character each, inflated. */
export const streamOf = (object: string): string => {
  const length = Number(/\/Length (\d+)/.exec(object)?.[1]);
  const start = object.indexOf('stream\n') + 'stream\n'.length;
  const raw = Buffer.from(object.slice(start, start + length), 'latin1');
  return (object.includes('/FlateDecode') ? inflateSync(raw) : raw).toString('latin1');
};

/** The objects of a file by number, also those packed into a stream. */
export const objectsOf = (pdf: Uint8Array): ReadonlyMap<string, string> => {
  const source = Buffer.from(pdf).toString('latin1');
  const objects = new Map([...source.matchAll(OBJECT)].map(([, id = '', body = '']) => [id, body]));
  for (const [packId, pack] of [...objects].filter(([, body]) => body.includes('/Type /ObjStm'))) {
    objects.delete(packId);
    const content = streamOf(pack);
    const first = Number(/\/First (\d+)/.exec(pack)?.[1]);
    const places = [...content.slice(0, first).matchAll(/(\d+) (\d+)/g)];
    for (const [index, [, id = '', start]] of places.entries()) {
      const end = places[index + 1]?.[2];
      objects.set(
        id,
        content.slice(first + Number(start), end === undefined ? undefined : first + Number(end)).trimEnd(),
      );
    }
  }
  return objects;
};

/** The objects of a file as plain text, one after the other. `objectsOf` reads them again. */
export const plainText = (pdf: Uint8Array): string =>
  [...objectsOf(pdf)].map(([id, body]) => `${id} 0 obj\n${body}\nendobj\n`).join('');

/** The Unicode text of each glyph of a font, from its `/ToUnicode` map. */
export const charMapOf = (cmap: string): CharMap =>
  new Map(
    [...cmap.matchAll(/^<([0-9A-F]{4})> <([0-9A-F]+)>$/gm)].map(([, glyph = '', unicode = '']) => [
      parseInt(glyph, 16),
      Buffer.from(unicode, 'hex').swap16().toString('utf16le'),
    ]),
  );
