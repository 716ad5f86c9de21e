import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testPool } from '../../../../test/support/test-pool.js';
import type { Recorded } from '../core/event.js';
import { addedToAppend } from '../testing/tally.js';
import { transaction } from './checkpoint.js';
import { foldRows, view, type View } from './view.js';

interface Line {
  readonly book: string;
  readonly number: number;
  readonly text: string;
  readonly at: string | null;
  readonly place: string;
  readonly tags: readonly string[];
  readonly notes: readonly { n: number }[];
  readonly seen: boolean;
}

const pool = testPool();

beforeAll(async () => {
  await pool.query(`create table line (book text, number integer, text text not null, at timestamptz, place numeric(20, 0) not null,
    tags text[] not null, notes jsonb not null, seen boolean not null, primary key (book, number))`);
});
beforeEach(() => pool.query('truncate line'));

/** `+` writes a line, `~` appends to its text, `-` removes it, `.` concerns no line. */
const lines: View = view<Line, Recorded>({
  table: 'public.line',
  key: ['book', 'number'],
  external: ['seen'],
  keyOf: ({ stream, type }) => (type === '.' ? null : { book: stream, number: typed(type).number ?? 0 }),
  evolve(row, { stream, type, position, metadata }) {
    const { what, number, text } = typed(type);
    if (what === '-') return null;
    if (what === '~')
      return (
        row && { ...row, text: row.text + text, seen: false, notes: [...row.notes, { n: row.notes.length }] }
      );
    return (
      row ?? {
        book: stream,
        number,
        text,
        at: metadata.occurredAt,
        place: String(position),
        tags: ['a', 'b,"c"'],
        notes: [],
        seen: false,
      }
    );
  },
});
const typed = (type: string) => ({
  what: type[0],
  number: Number(type[1] ?? 0),
  text: type.slice(2),
});

const event = (stream: string, type: string, position = 1n): Recorded => ({
  ...addedToAppend('id', 'r'),
  stream,
  type,
  revision: 0n,
  position,
});
const fold = (...events: readonly Recorded[]): Promise<void> =>
  transaction(pool, (client) => foldRows(client, { view: lines, table: lines.table, events }));
const texts = async () =>
  (
    await pool.query<{ book: string; number: number; text: string }>(
      'select book, number, text from line order by book, number',
    )
  ).rows.map(({ book, number, text }) => `${book}${number} ${text}`);

describe('folding events into the rows of a table', () => {
  it('creates, changes and removes rows in event order, however the events are batched', async () => {
    await fold(event('a', '+1one'), event('a', '~1!'), event('b', '+1x'), event('a', '+2two'));
    expect(await texts()).toEqual(['a1 one!', 'a2 two', 'b1 x']);
    await fold(event('b', '~1y'), event('a', '-2'), event('b', '~1z'), event('a', '~9nothing'));
    expect(await texts()).toEqual(['a1 one!', 'b1 xyz']);
    await fold(event('a', '-1'), event('a', '+1again'), event('c', '+1gone'), event('c', '-1'));
    expect(await texts()).toEqual(['a1 again', 'b1 xyz']);
  });

  it('reads rows back unchanged: instants, large numbers, arrays and JSON', async () => {
    await fold(event('a', '+1x', 2n ** 63n + 1n));
    await fold(event('a', '~1y'));
    expect((await pool.query('select * from line')).rows).toEqual([
      {
        book: 'a',
        number: 1,
        text: 'xy',
        at: new Date('2026-01-02T03:04:05.006Z'),
        place: '9223372036854775809',
        tags: ['a', 'b,"c"'],
        notes: [{ n: 0 }],
        seen: false,
      },
    ]);
  });

  it('writes more rows than fit into one statement', async () => {
    const books = Array.from({ length: 1_003 }, (_, index) => `book${String(index).padStart(4, '0')}`);
    await fold(...books.map((book) => event(book, '+1x')));
    await fold(...books.map((book) => event(book, '~1y')));
    expect(await texts()).toEqual(books.map((book) => `${book}1 xy`));
  });

  it('keeps what others wrote into external columns', async () => {
    await fold(event('a', '+1x'));
    const writer = await pool.connect();
    await writer.query('update line set seen = true');
    writer.release();
    await fold(event('a', '~1y'));
    expect((await pool.query('select text, seen from line')).rows).toEqual([{ text: 'xy', seen: true }]);
  });

  it('tolerates a column that a newer program has added', async () => {
    await fold(event('a', '+1x'));
    await pool.query(`alter table line add column added text not null default 'new'`);
    await fold(event('b', '+1x'), event('a', '~1y'));
    await fold(event('a', '~1z'));
    expect((await pool.query('select text, added from line order by text')).rows).toEqual([
      { text: 'x', added: 'new' },
      { text: 'xyz', added: 'new' },
    ]);
    await pool.query('alter table line drop column added');
  });

  it('never treats text as SQL', async () => {
    await fold(event(`'; drop table line; --`, `+1'"$1\\`));
    expect(await texts()).toEqual([`'; drop table line; --1 '"$1\\`]);
  });
});
