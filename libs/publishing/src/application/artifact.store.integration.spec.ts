import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { systemClock } from '#event-sourcing/core/clock.js';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { ArtifactStore, type Artifact } from './artifact.store.js';

const RING = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const RENDERED = {
  document_v1: Buffer.from('{"a":1}'),
  markdown: Buffer.from('# Ada\n'),
  pdf: Buffer.alloc(140_000, 0x80),
};

let postgres: StartedPostgres;
let pool: pg.Pool;
let keys: SubjectKeys;
let artifacts: ArtifactStore;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 8, applicationName: 'artifacts', onError: () => undefined });
  // As in a process of the service, which caches opened keys for a short time.
  keys = new SubjectKeys(pool, RING, { clock: systemClock, milliseconds: 60_000 });
  artifacts = new ArtifactStore(pool, keys);
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const reading = async () => {
  const readingId = randomUUID();
  await keys.create(readingId, 'ws_1');
  await keys.find(readingId);
  return { readingId, version: 1, artifactId: `art_${readingId}`, contentVersion: '2026.11.3' };
};
const rowsOf = async (readingId: string): Promise<Record<string, unknown>[]> => {
  const { rows } = await pool.query<Record<string, unknown>>(
    'select format, digest, bytes, length(sealed) as sealed from publishing.artifact where reading_id = $1 order by 1',
    [readingId],
  );
  return rows;
};

describe('artifacts', () => {
  it('are stored with keyed digests and padded lengths, and decrypt to the same bytes', async () => {
    const one = await reading();
    const stored = await artifacts.put(one, RENDERED);
    expect(await artifacts.put(one, { ...RENDERED, markdown: Buffer.from('# Ida\n') })).toEqual(stored);
    const rows = await rowsOf(one.readingId);
    expect(rows.map(({ format, bytes, sealed }) => [format, bytes, sealed])).toEqual([
      ['document_v1', 65_536, 65_564],
      ['markdown', 32_768, 32_796],
      ['pdf', 262_144, 262_172],
    ]);
    expect(stored!.formats.map(({ digest }) => digest)).toEqual(rows.map(({ digest }) => digest));
    for (const bytes of Object.values(RENDERED))
      expect(JSON.stringify([rows, stored])).not.toContain(createHash('sha256').update(bytes).digest('hex'));
    for (const format of ['document_v1', 'markdown', 'pdf'] as const) {
      const found = await artifacts.get(one.readingId, 1, format);
      expect((found as Artifact).bytes.equals(RENDERED[format])).toBe(true);
    }
  });

  it('say which are stored, whether bytes are the published ones, and that one is lost', async () => {
    const one = await reading();
    const { formats } = (await artifacts.put(one, RENDERED))!;
    await pool.query("delete from publishing.artifact where reading_id = $1 and format = 'pdf'", [
      one.readingId,
    ]);
    expect(
      [...(await artifacts.stored(one.readingId))].map(([version, of]) => [version, of.toSorted()]),
    ).toEqual([[1, ['document_v1', 'markdown']]]);
    expect(await artifacts.get(one.readingId, 1, 'pdf')).toBe('lost');
    const { digest } = formats.find(({ format }) => format === 'pdf')!;
    expect(await artifacts.matches(one.readingId, RENDERED.pdf, digest)).toBe(true);
    expect(await artifacts.matches(one.readingId, RENDERED.pdf.subarray(1), digest)).toBe(false);
    expect((await artifacts.put(one, { pdf: RENDERED.pdf }))!.formats).toEqual(
      formats.filter(({ format }) => format === 'pdf'),
    );
    expect(await artifacts.get(one.readingId, 1, 'pdf')).toMatchObject({ bytes: RENDERED.pdf });
    await pool.query('delete from platform.subject_key where subject_id = $1', [one.readingId]);
    const elsewhere = new ArtifactStore(pool, new SubjectKeys(pool, RING));
    expect(await elsewhere.get(one.readingId, 1, 'pdf')).toBeNull();
    expect(await elsewhere.matches(one.readingId, RENDERED.pdf, digest)).toBeNull();
  });

  it('are not stored once the key is destroyed, even if a process still caches it', async () => {
    const one = await reading();
    await pool.query('delete from platform.subject_key where subject_id = $1', [one.readingId]);
    expect(await artifacts.put(one, RENDERED)).toBeNull();
    expect(await rowsOf(one.readingId)).toEqual([]);
  });

  it('stored while the key is being destroyed wait for that, and are then not stored', async () => {
    const one = await reading();
    const eraser = await pool.connect();
    await eraser.query('begin');
    await eraser.query('delete from platform.subject_key where subject_id = $1', [one.readingId]);
    await eraser.query('delete from publishing.artifact where reading_id = $1', [one.readingId]);
    const storing = artifacts.put(one, RENDERED);
    await waiting();
    await eraser.query('commit');
    eraser.release();
    expect(await storing).toBeNull();
    expect(await rowsOf(one.readingId)).toEqual([]);
  });

  it('almost stored when the key is destroyed make the erasure wait, and are then deleted', async () => {
    const one = await reading();
    const storing = await pool.connect();
    await storing.query('begin');
    await new ArtifactStore(storing as never, keys).put(one, RENDERED);
    const erased = (async () => {
      await pool.query('delete from platform.subject_key where subject_id = $1', [one.readingId]);
      await artifacts.discard(one.readingId);
    })();
    await waiting();
    await storing.query('commit');
    storing.release();
    await erased;
    expect(await rowsOf(one.readingId)).toEqual([]);
  });
});

/** Resolves once a session waits for a lock. */
const waiting = async (): Promise<void> => {
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'",
    );
    if (rows[0]!.n > 0) return;
  }
};
