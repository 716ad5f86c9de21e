import { describe, expect, it } from '@jest/globals';
import { packed } from './typst.js';
import { objectsOf, streamOf } from '#publishing/pdf/testing/pdf-file.js';

/** A file as Typst writes it: one cross-reference table, objects in any order. */
const plainFile = (bodies: ReadonlyMap<number, string>): Buffer => {
  let text = '%PDF-1.7\n%\x80\x80\x80\x80\n\n';
  const places = new Map<number, number>();
  for (const [id, body] of bodies) {
    places.set(id, text.length);
    text += `${id} 0 obj\n${body}\nendobj\n\n`;
  }
  const start = text.length;
  const size = Math.max(...bodies.keys()) + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f\r\n`;
  for (let id = 1; id < size; id += 1) {
    const place = String(places.get(id) ?? 0).padStart(10, '0');
    text += places.has(id) ? `${place} 00000 n\r\n` : `${place} 65535 f\r\n`;
  }
  text += `trailer\n<<\n  /Size ${size}\n  /Root 1 0 R\n  /ID [(one>>) (one>>)]\n>>\nstartxref\n${start}\n%%EOF`;
  return Buffer.from(text, 'latin1');
};

const STREAM = '<<\n  /Length 16\n>>\nstream\n1 0 obj endobj\xFF\n\nendstream';
const BODIES = new Map([
  [4, STREAM],
  [2, '<<\n  /Type /Pages\n  /Title (\xE9 \\) endobj)\n>>'],
  [1, '<<\n  /Type /Catalog\n  /Pages 2 0 R\n>>'],
  [6, '[4 0 R null]'],
]);

/** What the table of a packed file says of each object. */
const entriesOf = (pdf: Buffer): { kind: number; place: number; within: number }[] => {
  const text = pdf.toString('latin1');
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const table = streamOf(text.slice(start));
  expect(text.slice(start)).toMatch(/^\d+ 0 obj\n<<\n\/Type \/XRef\n/);
  return Array.from({ length: table.length / 7 }, (_, id) => {
    const row = Buffer.from(table.slice(7 * id, 7 * id + 7), 'latin1');
    return { kind: row.readUInt8(0), place: row.readUInt32BE(1), within: row.readUInt16BE(5) };
  });
};

describe('A packed PDF', () => {
  const pdf = Buffer.from(packed(plainFile(BODIES)));
  const text = pdf.toString('latin1');
  const entries = entriesOf(pdf);

  it('has the objects of the file that was packed', () => {
    const objects = objectsOf(pdf);
    for (const [id, body] of BODIES) if (body !== STREAM) expect(objects.get(String(id))).toBe(body);
    expect(text).toContain(`4 0 obj\n${STREAM}\nendobj`);
  });

  it('finds each by its table, whole or in the pack', () => {
    // 5 was free, 7 is the pack, 8 the table.
    expect(entries.map(({ kind }) => kind)).toEqual([0, 2, 2, 0, 1, 0, 2, 1, 1]);
    for (const [id, { kind, place }] of entries.entries()) {
      if (kind === 1) expect(text.slice(place)).toMatch(new RegExp(`^${id} 0 obj\n`));
      if (kind === 2) expect(place).toBe(7);
    }
    const content = streamOf(text.slice(entries[7]!.place));
    const ids = content
      .split('\n', 1)[0]!
      .split(' ')
      .filter((_, index) => index % 2 === 0);
    for (const id of [1, 2, 6]) expect(ids[entries[id]!.within]).toBe(String(id));
  });

  it('keeps the trailer', () => {
    expect(text).toContain('/Size 9\n/W [1 4 2]\n/Root 1 0 R\n  /ID [(one>>) (one>>)]\n');
  });
});
