import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import type { Recorded } from '../core/event.js';
import { addedToAppend } from '../testing/tally.js';
import { transaction } from './transaction.js';
import { foldRows, view, type View } from './view.js';

interface Note {
  readonly id: string;
  readonly number: number;
  readonly text: string | null;
  readonly at: string;
  readonly day: string;
  readonly place: string;
  readonly seen: boolean;
}

let postgres: StartedPostgres;
let pool: pg.Pool;
/** Tables that were copied into. */
let copied: string[];

const COLUMNS = `id uuid, number integer, text text, at timestamptz not null, day date not null, place numeric(20, 0) not null,
  seen boolean not null, primary key (id, number)`;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = new pg.Pool({ connectionString: postgres.databaseUrl, max: 2, query_timeout: 20_000 });
  pool.on('error', () => undefined);
  await pool.query(
    `create table batched (${COLUMNS}); create table single (${COLUMNS}); create table tagged (${COLUMNS}, tags text[])`,
  );
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});
beforeEach(async () => {
  copied = [];
  await pool.query('truncate batched, single, tagged');
});

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const notes = (extra: object = {}): View =>
  view<Note, Recorded>({
    table: 'public.batched',
    key: ['id', 'number'],
    keyOf: ({ stream, revision }) => ({ id: stream, number: Number(revision) % 3 }),
    evolve(row, { stream, revision, position, type, data, metadata: { occurredAt } }) {
      if (type === 'removed') return null;
      // The mark keeps halves of two surrogate pairs apart: unsaved they would be one character, saved each is U+FFFD.
      if (type === 'added') return row && { ...row, text: `${row.text}|${String(data)}`, seen: true };
      return (
        row ?? {
          id: stream,
          number: Number(revision) % 3,
          text: data as string | null,
          at: occurredAt,
          day: '2026-02-28',
          place: String(position),
          seen: false,
          ...extra,
        }
      );
    },
  });

const event = (type: string, note: number, data: string | null): Recorded => ({
  ...addedToAppend('id', 'r'),
  stream: uuid(Math.floor(note / 3)),
  revision: BigInt(note),
  position: 2n ** 60n + BigInt(note),
  type,
  data,
});

const fold = (table: string, events: readonly Recorded[], one = notes()): Promise<void> =>
  transaction(pool, (client) => {
    const { query } = client;
    client.query = ((...[asked, ...rest]: Parameters<typeof query>) => {
      const { text } = asked as unknown as { text?: string };
      if (text?.startsWith('copy ')) copied.push(table);
      return (query as (...all: unknown[]) => unknown).call(client, asked, ...rest);
    }) as typeof query;
    return foldRows(client, { view: one, table, events }).finally(() => {
      client.query = query;
    });
  });

const dump = async (table: string): Promise<readonly unknown[]> =>
  (await pool.query(`select * from ${table} order by id, number`)).rows;

/** Text that means something in the format of COPY, in JSON or in UTF-16, and any other that PostgreSQL stores. */
const text = fc.oneof(
  fc.constantFrom(
    null,
    '',
    '\\N',
    '\\.',
    '\\',
    '\t',
    '\r\n',
    '\\n',
    '"',
    "'",
    'null',
    '{}',
    '\ud83d',
    '\ud83d\ude00',
  ),
  fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', '')),
  fc
    .array(fc.constantFrom('\\', '\n', '\r', '\t', 'N', '.', 'é', '\u2028', '\udead'))
    .map((parts) => parts.join('')),
);
const happened = fc.tuple(fc.constantFrom('wrote', 'wrote', 'wrote', 'added', 'removed'), fc.nat(400), text);

describe('folding many events at once', () => {
  it('leaves the rows that it leaves event by event', async () => {
    const batches = fc.array(fc.array(happened, { minLength: 100, maxLength: 200 }), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        await pool.query('truncate batched, single');
        for (const batch of all) {
          const events = batch.map((one) => event(...one));
          await fold('batched', events);
          for (const one of events) await fold('single', [one]);
        }
        expect(await dump('batched')).toEqual(await dump('single'));
      }),
      { numRuns: 8, endOnFailure: true },
    );
    expect(copied).toContain('batched');
    expect(copied).not.toContain('single');
  });

  it('writes a table with arrays by statements', async () => {
    const events = Array.from({ length: 100 }, (_, index) => event('wrote', index, 'x'));
    await fold('tagged', events, notes({ tags: ['a', 'b,"c"'] }));
    expect(copied).toEqual([]);
    expect(await dump('tagged')).toHaveLength(100);
    expect((await dump('tagged'))[99]).toMatchObject({ tags: ['a', 'b,"c"'] });
  });

  it('writes none of the rows when PostgreSQL refuses one, and the connection stays usable', async () => {
    const events = Array.from({ length: 5_000 }, (_, index) => event('wrote', index, 'x'.repeat(100)));
    const refused = [...events, event('wrote', 5_000, 'NUL: \0')];
    await expect(fold('batched', refused)).rejects.toMatchObject({ code: '22021' });
    expect(await dump('batched')).toEqual([]);
    await fold('batched', events);
    expect(await dump('batched')).toHaveLength(5_000);
    expect(copied).toEqual(['batched', 'batched']);
  });
});
