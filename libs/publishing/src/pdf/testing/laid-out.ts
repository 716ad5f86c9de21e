import {
  bytesOf,
  charMapOf,
  objectsOf,
  streamOf,
  textOf,
  ACTUAL_TEXT,
  TOKEN,
  type CharMap,
} from './pdf-file.js';

/** Where something stands on its page, in points from the top left corner. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Glyphs that follow each other on one baseline. */
export interface Run extends Box {
  readonly text: string;
  readonly baseline: number;
  /** In points. */
  readonly size: number;
  /** The nearest tag that says what it is, such as `H2`, `P`, `TD`; null for an artifact (running head, page number). */
  readonly role: string | null;
}

export interface LaidOutPage {
  readonly width: number;
  readonly height: number;
  readonly runs: readonly Run[];
  /** Texts at an angle, such as the word in the margin of a test reading: never body text. */
  readonly turned: readonly string[];
}

interface Font {
  readonly characters: CharMap;
  /** In thousandths of the size. */
  readonly widths: ReadonlyMap<number, number>;
}

type Matrix = readonly [number, number, number, number, number, number];

/** Tags that say what a run is, unless it stands in a heading; those inside it, such as `Span`, do not. */
const TELLING = /^(?:P|TH|TD|LI|Figure|Caption|TOCI|BlockQuote)$/;

const times = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[1] * n[2],
  m[0] * n[1] + m[1] * n[3],
  m[2] * n[0] + m[3] * n[2],
  m[2] * n[1] + m[3] * n[3],
  m[4] * n[0] + m[5] * n[2] + n[4],
  m[4] * n[1] + m[5] * n[3] + n[5],
];

const at = (m: Matrix, x: number, y: number): readonly [number, number] => [
  m[0] * x + m[2] * y + m[4],
  m[1] * x + m[3] * y + m[5],
];

/** `/W [first last width …]`, as our typesetter writes it. */
const widthsOf = (font: string): ReadonlyMap<number, number> => {
  const numbers = (/\/W \[([^\]]*)\]/.exec(font)?.[1] ?? '').trim().split(/\s+/).map(Number);
  const widths = new Map<number, number>();
  for (let index = 0; index + 2 < numbers.length; index += 3) {
    for (let glyph = numbers[index]!; glyph <= numbers[index + 1]!; glyph += 1)
      widths.set(glyph, numbers[index + 2]!);
  }
  return widths;
};

/** Ascent and descent of lower-case letters with their extenders, in sizes. Accents of capitals reach further. */
const ASCENT = 0.72;
const DESCENT = 0.22;

const MARK_ID = /\/MCID (\d+)/;

/** Walks a content stream. Knows the operators that our typesetter writes. */
const readContent = (
  content: string,
  height: number,
  fonts: ReadonlyMap<string, Font>,
  roleOf: (mark: number) => Run['role'],
): Pick<LaidOutPage, 'runs' | 'turned'> => {
  const runs: Run[] = [];
  const turned: string[] = [];
  const matrices: Matrix[] = [];
  const marks: { role: Run['role']; hidden: boolean }[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  let text: Matrix = matrix;
  let font: Font | undefined;
  let size = 0;
  let replaced: string | null = null;
  let operands: string[] = [];
  const numbers = (): number[] => operands.filter((each) => /^[\d.-]/.test(each)).map(Number);
  const current = (): Run['role'] => marks.at(-1)?.role ?? null;

  const show = (): void => {
    const place = times(text, matrix);
    let advance = 0;
    // Where the last visible glyph ends.
    let ink = 0;
    let shown = '';
    for (const operand of operands) {
      if (!/^[(<]/.test(operand)) {
        advance -= (Number(operand) / 1000) * size;
        continue;
      }
      const bytes = bytesOf(operand);
      for (let index = 0; index + 1 < bytes.length; index += 2) {
        const glyph = bytes.charCodeAt(index) * 256 + bytes.charCodeAt(index + 1);
        const character = font?.characters.get(glyph) ?? '\uFFFD';
        advance += ((font?.widths.get(glyph) ?? 0) / 1000) * size;
        if (/\S/.test(character)) ink = advance;
        shown += character;
      }
    }
    if (replaced !== null) shown = replaced;
    if (replaced !== null) replaced = '';
    const [left, y] = at(place, 0, 0);
    const [right] = at(place, ink, 0);
    const baseline = height - y;
    if (Math.abs(place[1]) > 0.01) return void turned.push(shown);
    runs.push({
      text: shown,
      left,
      right,
      baseline,
      size,
      top: baseline - ASCENT * size,
      bottom: baseline + DESCENT * size,
      role: current(),
    });
  };

  for (const [token] of content.matchAll(TOKEN)) {
    if (/^[/(<\d.-]/.test(token)) {
      operands.push(token);
      continue;
    }
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = numbers();
    if (token === 'q') matrices.push(matrix);
    else if (token === 'Q') matrix = matrices.pop() ?? matrix;
    else if (token === 'cm') matrix = times([a, b, c, d, e, f], matrix);
    else if (token === 'Tm') text = [a, b, c, d, e, f];
    else if (token === 'Tf') {
      font = fonts.get(operands[0] ?? '');
      size = Number(operands[1]);
    } else if (token === 'Tj' || token === 'TJ') show();
    else if (token === 'BDC' || token === 'BMC') {
      const properties = operands.join(' ');
      const mark = MARK_ID.exec(properties)?.[1];
      const actual = ACTUAL_TEXT.exec(properties)?.[1];
      if (actual !== undefined) replaced = textOf(actual);
      const role = operands[0] === '/Artifact' ? null : mark === undefined ? current() : roleOf(Number(mark));
      marks.push({ role, hidden: actual !== undefined });
    } else if (token === 'EMC') {
      if (marks.pop()?.hidden) replaced = null;
    }
    operands = [];
  }
  return { runs, turned };
};

const ids = (text: string): string[] => [...text.matchAll(/(\d+) 0 R/g)].map(([, id]) => id!);

/** Every page of a PDF of our own typesetter: what stands where, and what it is. */
export const readPages = (pdf: Uint8Array): LaidOutPage[] => {
  const objects = objectsOf(pdf);
  const object = (id: string | undefined): string => objects.get(id ?? '') ?? '';
  const follow = (body: string, key: string): string =>
    object(new RegExp(`/${key} \\[?\\s*(\\d+) 0 R`).exec(body)?.[1]);

  const known = new Map<string, Font>();
  const fontOf = (id: string): Font => {
    const font = known.get(id) ?? {
      characters: charMapOf(streamOf(follow(object(id), 'ToUnicode'))),
      widths: widthsOf(follow(object(id), 'DescendantFonts')),
    };
    known.set(id, font);
    return font;
  };

  const tree = [...objects.values()].find((body) => body.includes('/Type /StructTreeRoot')) ?? '';
  const owners = new Map(
    [...tree.slice(tree.indexOf('/Nums')).matchAll(/(\d+) (\d+) 0 R/g)].map(([, key = '', id = '']) => [
      key,
      id,
    ]),
  );
  const roleOf = (id: string): string => {
    let [role, nearest] = ['', ''];
    for (let each = id; object(each).includes('/Type /StructElem');) {
      const type = /\/S \/(\w+)/.exec(object(each))?.[1] ?? '';
      nearest ||= type;
      if (/^H\d$/.test(type) || (role === '' && TELLING.test(type))) role = type;
      each = /\/P (\d+) 0 R/.exec(object(each))?.[1] ?? '';
    }
    return role || nearest;
  };

  const pageTree = [...objects.values()].find((body) => body.includes('/Type /Pages')) ?? '';
  return ids(/\/Kids \[([^\]]*)\]/.exec(pageTree)?.[1] ?? '').map((id) => {
    const page = object(id);
    const [, , width = 0, height = 0] = (/\/MediaBox \[([^\]]*)\]/.exec(page)?.[1] ?? '')
      .split(' ')
      .map(Number);
    const fontList = /\/Font <<([\s\S]*?)>>/.exec(page)?.[1] ?? '';
    const fonts = new Map(
      [...fontList.matchAll(/(\/f\d+) (\d+) 0 R/g)].map(([, name = '', font = '']) => [name, fontOf(font)]),
    );
    const elements = ids(object(owners.get(/\/StructParents (\d+)/.exec(page)?.[1] ?? '')));
    const roles = elements.map(roleOf);
    const content = streamOf(follow(page, 'Contents'));
    return { width, height, ...readContent(content, height, fonts, (mark) => roles[mark] ?? null) };
  });
};
