import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import pg from 'pg';
import { faultOf } from '#platform/fault/fault.js';
import { Random } from '../support/random.js';
import { again, rounds, seedOr } from '../support/rounds.js';
import { startPostgres, type StartedPostgres } from '../support/start-postgres.js';

const FLIPS = rounds(40, 5_000);
const SEED = seedOr(7);
const KEYS = 3_000;
const DOCUMENTS = 40;

/** A file of PostgreSQL with pages of a table, an index or long values. */
interface PageFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
}

let postgres: StartedPostgres;
let client: pg.Client;
let files: [PageFile, ...PageFile[]];

beforeAll(async () => {
  postgres = await startPostgres();
  client = new pg.Client({ connectionString: postgres.databaseUrl });
  await client.connect();
  await client.query('create extension pg_buffercache; create extension pg_prewarm');
  // Long values that cannot be compressed have pages of their own.
  await client.query(`
    insert into platform.subject_key (subject_id, workspace_id, wrapped_key)
      select gen_random_uuid(), 'ws_1', uuid_send(gen_random_uuid()) from generate_series(1, ${KEYS});
    insert into publishing.artifact (artifact_id, format, reading_id, version, media_type, content_version, digest, bytes, sealed)
      select 'a' || n, 'pdf', gen_random_uuid(), 1, 'application/pdf', '1', '', 1,
             (select string_agg(uuid_send(gen_random_uuid()), '' order by part + n) from generate_series(1, 500) as part)
      from generate_series(1, ${DOCUMENTS}) as n`);
  await client.query('vacuum (freeze, analyze)');
  await client.query('checkpoint');
  const { rows } = await client.query<PageFile>(
    `with own as (
       select oid, reltoastrelid from pg_class
       where oid in ('platform.subject_key'::regclass, 'publishing.artifact'::regclass)
     ), tables as (select oid from own union all select reltoastrelid from own where reltoastrelid <> 0),
     relations as (select oid from tables union all select indexrelid from pg_index join tables on indrelid = oid)
     select oid::regclass::text as name, current_setting('data_directory') || '/' || pg_relation_filepath(oid) as path,
            pg_relation_size(oid)::int as bytes
     from relations where pg_relation_size(oid) > 0 order by 1`,
  );
  files = rows as [PageFile, ...PageFile[]];
});

afterAll(async () => {
  await client?.end();
  await postgres?.stop();
});

/** Reads all pages from the disk. @returns what PostgreSQL says about them; `null` when they are sound */
const look = async ({ name }: PageFile): Promise<unknown> => {
  await client.query('select pg_buffercache_evict_relation($1::regclass)', [name]);
  return client.query(`select pg_prewarm($1::regclass, 'buffer')`, [name]).then(
    () => null,
    (error: unknown) => error,
  );
};

const flip = ({ path }: PageFile, offset: number, bit: number): void => {
  const file = openSync(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    writeSync(file, Buffer.of(byte[0]! ^ (1 << bit)), 0, 1, offset);
  } finally {
    closeSync(file);
  }
};

it(`${FLIPS} single flipped bits in PostgreSQL's tables and indexes are each found, and named as damage (${again('flipped-pages', FLIPS, SEED)})`, async () => {
  // Both tables, their indexes and the long values of documents, with their index.
  expect(files.map(({ name }) => name.replace(/\d+/, 'n'))).toEqual(
    expect.arrayContaining([
      'platform.subject_key',
      'publishing.artifact',
      'pg_toast.pg_toast_n',
      'pg_toast.pg_toast_n_index',
      'publishing.artifact_pkey',
    ]),
  );
  for (const file of files) expect(await look(file)).toBeNull();
  const random = new Random(SEED);
  const unseen: string[] = [];
  for (let flips = 0; flips < FLIPS; flips += 1) {
    const file = random.pick(files);
    const [offset, bit] = [random.between(0, file.bytes - 1), random.between(0, 7)];
    flip(file, offset, bit);
    const found = await look(file);
    flip(file, offset, bit);
    const fault = faultOf(found);
    const isNamed = fault?.kind === 'damaged' && /invalid page in block \d+ of relation/.test(String(found));
    if (!isNamed) unseen.push(`bit ${bit} of byte ${offset} of ${file.name}: ${String(found)}`);
  }
  expect(unseen).toEqual([]);
  for (const file of files) expect(await look(file)).toBeNull();
});
