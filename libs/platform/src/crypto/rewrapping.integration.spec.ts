import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { openPool } from '../postgres/pool.js';
import { KeyRing } from './key-ring.js';
import { countByKey, rewrap } from './rewrapping.js';
import { SUBJECT_KEY_COLUMN, SubjectKeys } from './subject-keys.js';

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const FORMER = new KeyRing([key('k1', 1)]);
const ROTATING = new KeyRing([key('k2', 2), key('k1', 1)]);
const CURRENT = new KeyRing([key('k2', 2)]);
const SECRET = Buffer.from('1815-12-10');

let postgres: StartedPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 8, applicationName: 'keys spec', onError: () => undefined });
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const counts = async () => Object.fromEntries(await countByKey(pool, SUBJECT_KEY_COLUMN));

/** Seals something for each of this many new subjects. */
const sealFor = (count: number, keys: SubjectKeys) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const subject = randomUUID();
      const sealed = (await keys.create(subject, 'ws_1')).seal('input', SECRET);
      return { subject, sealed };
    }),
  );

describe('Rewrapping', () => {
  it('leaves everything readable with only the new key, while readers and writers continue', async () => {
    const before = await sealFor(1_200, new SubjectKeys(pool, FORMER));
    expect(await counts()).toEqual({ k1: 1_200 });
    const steps: number[] = [];
    const [done, meanwhile] = await Promise.all([
      rewrap(pool, ROTATING, SUBJECT_KEY_COLUMN, (seen) => steps.push(seen)),
      sealFor(300, new SubjectKeys(pool, ROTATING)),
      ...before
        .slice(0, 100)
        .map(async ({ subject, sealed }) =>
          expect((await new SubjectKeys(pool, ROTATING).find(subject))!.open('input', sealed)).toEqual(
            SECRET,
          ),
        ),
    ]);
    expect(done).toMatchObject({ rewrapped: 1_200, unopened: [] });
    expect(steps).toEqual([500, 1_000, 1_200]);
    expect(await counts()).toEqual({ k2: 1_500 });
    expect([...(await countByKey(pool, SUBJECT_KEY_COLUMN, 400))]).toEqual([['k2', 1_500]]);
    const again = await rewrap(pool, ROTATING, SUBJECT_KEY_COLUMN);
    expect(again).toEqual({ rewrapped: 0, unopened: [], left: new Set() });
    const after = new SubjectKeys(pool, CURRENT);
    for (const { subject, sealed } of [...before, ...meanwhile]) {
      expect((await after.find(subject))!.open('input', sealed)).toEqual(SECRET);
    }
  });

  it('names what no key opens, leaves it unchanged, and continues', async () => {
    const [lost] = await sealFor(1, new SubjectKeys(pool, new KeyRing([key('k0', 9)])));
    await sealFor(3, new SubjectKeys(pool, FORMER));
    expect(await rewrap(pool, ROTATING, SUBJECT_KEY_COLUMN)).toEqual({
      rewrapped: 3,
      unopened: [lost!.subject],
      left: new Set(['k0']),
    });
    expect(await counts()).toMatchObject({ k0: 1 });
  });
});
