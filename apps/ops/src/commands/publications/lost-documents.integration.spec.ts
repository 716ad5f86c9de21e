import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../../test/support/start-postgres.js';
import { checkDocuments } from '../doctor/documents.js';
import { FIRST_READING, lostDocuments } from './lost-documents.js';

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 2, applicationName: 'lost', onError: () => undefined });
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

/** Versions 1 and 2 of a document, all formats stored. */
const published = async (readingId: string): Promise<void> => {
  await pool.query(
    `with key as (insert into platform.subject_key (subject_id, workspace_id, wrapped_key) values ($1, 'ws_1', 'x')),
          made as (insert into publishing.publication
                     (reading_id, version, workspace_id, artifact_id, published_at, correlation_id)
                   select $1, version, 'ws_1', 'art', now(), 'c' from generate_series(1, 2) as version)
     insert into publishing.artifact (artifact_id, format, reading_id, version, media_type, content_version, digest, bytes, sealed)
     select 'art', format, $1, version, 'text/plain', '1', '', 1, 'x'
     from generate_series(1, 2) as version, unnest(array['document_v1', 'markdown', 'pdf']) as format`,
    [readingId],
  );
};

it('finds versions that lack formats, page by page, and none of erased readings', async () => {
  const ids = Array.from({ length: 7 }, () => randomUUID()).toSorted();
  for (const id of ids) await published(id);
  expect(await checkDocuments(pool)).toMatchObject({ level: 'ok', message: 'all formats are stored' });
  const [first, second, , fourth, , , last] = ids as [string, string, string, string, string, string, string];
  await pool.query(
    "delete from publishing.artifact where reading_id = $1 and version = 1 and format = 'pdf'",
    [second],
  );
  await pool.query('delete from publishing.artifact where reading_id = any($1::uuid[])', [[fourth, last]]);
  await pool.query('delete from platform.subject_key where subject_id = $1', [fourth]);
  const found: object[] = [];
  let looked = 0;
  for (let after: string | null = FIRST_READING; after !== null;) {
    const page = await lostDocuments(pool, after, 3);
    found.push(...page.lost);
    looked += page.looked;
    after = page.last;
  }
  expect(found).toEqual([
    { readingId: second, version: 1 },
    { readingId: last, version: 1 },
    { readingId: last, version: 2 },
  ]);
  expect(looked).toBe(14);
  expect(await checkDocuments(pool)).toMatchObject({
    level: 'failure',
    message: expect.stringMatching(/^2 readings lack a published document/),
  });
  await pool.query('delete from publishing.publication where reading_id <> $1', [first]);
  expect(await checkDocuments(pool, 1)).toMatchObject({
    level: 'ok',
    message: 'those looked at have all formats',
  });
});
