import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { testPool } from '../../../../test/support/test-pool.js';
import { KeyRing } from './key-ring.js';
import { countByKey, rewrap } from './rewrapping.js';
import { SealBroken } from './sealing.js';
import { SUBJECT_KEY_COLUMN, SubjectKeys } from './subject-keys.js';
import { KeyNotHeld, KeysUnavailable } from './wrapping-keys.js';

const RING = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const SECRET = Buffer.from('1815-12-10');

const pool = testPool();
const keys = new SubjectKeys(pool, RING);

describe('SubjectKeys', () => {
  it('make one key per subject, even when requested often and concurrently', async () => {
    const subject = randomUUID();
    const made = await Promise.all(Array.from({ length: 8 }, () => keys.create(subject, 'ws_1')));
    const sealed = made.map((key) => key.seal('input', SECRET));
    const found = (await keys.find(subject))!;
    for (const one of sealed) expect(found.open('input', one)).toEqual(SECRET);
  });

  it('keep every lookup that requests bring, in one row with the key', async () => {
    const [subject, other] = [randomUUID(), randomUUID()];
    const [first, second] = [Buffer.from('first'), Buffer.from('second')];
    await Promise.all([
      keys.create(subject, 'ws_1', first),
      keys.create(subject, 'ws_1', second),
      keys.create(subject, 'ws_1'),
      keys.create(other, 'ws_1'),
    ]);
    await keys.create(subject, 'ws_1', second);
    await keys.create(subject, 'ws_1');
    await keys.create(other, 'ws_1');
    const { rows } = await pool.query<{ id: string; lookups: Buffer[] | null }>(
      'select subject_id as id, lookups from platform.subject_key where subject_id = any($1)',
      [[subject, other]],
    );
    const lookupsOf = (id: string) => rows.find((row) => row.id === id)!.lookups;
    expect(lookupsOf(subject)!.map(String).sort()).toEqual(['first', 'second']);
    expect(lookupsOf(other)).toBeNull();
    await keys.create(other, 'ws_1', first);
    await keys.destroy(subject);
    const found = await pool.query('select subject_id as id from platform.subject_key where lookups @> $1', [
      [first],
    ]);
    expect(found.rows).toEqual([{ id: other }]);
  });

  it('are gone permanently once their row is deleted: nothing, not even a new key, opens what they sealed', async () => {
    const subject = randomUUID();
    const sealed = (await keys.create(subject, 'ws_1')).seal('input', SECRET);
    await pool.query('delete from platform.subject_key where subject_id = $1', [subject]);
    expect(await keys.find(subject)).toBeNull();
    const again = await keys.create(subject, 'ws_1');
    expect(() => again.open('input', sealed)).toThrow(SealBroken);
    expect(() => again.open('result', again.seal('input', SECRET))).toThrow(SealBroken);
  });

  it('cannot be moved to another subject or workspace in the database', async () => {
    const [mine, theirs] = [randomUUID(), randomUUID()];
    await keys.create(mine, 'ws_1');
    await keys.create(theirs, 'ws_2');
    await pool.query(
      `update platform.subject_key set wrapped_key = (select wrapped_key from platform.subject_key where subject_id = $1) where subject_id = $2`,
      [mine, theirs],
    );
    await expect(keys.find(theirs)).rejects.toThrow(KeyNotHeld);
    await pool.query(`update platform.subject_key set workspace_id = 'ws_2' where subject_id = $1`, [mine]);
    await expect(keys.find(mine)).rejects.toThrow(KeyNotHeld);
  });

  it.each([
    ['lacks the key', { id: 'k0', key: Buffer.alloc(32, 1) }, 'No encryption key named k1 is configured'],
    ['has other bytes for it', { id: 'k1', key: Buffer.alloc(32, 9) }, 'Sealed with another key'],
  ])('are unavailable, not lost, in a process that %s', async (_, wrong, message) => {
    const subject = randomUUID();
    const sealed = (await keys.create(subject, 'ws_1')).seal('input', SECRET);
    const behind = new SubjectKeys(pool, new KeyRing([wrong]));
    for (const used of [() => behind.find(subject), () => behind.create(subject, 'ws_1')]) {
      await expect(used()).rejects.toBeInstanceOf(KeysUnavailable);
      await expect(used()).rejects.toThrow(message);
    }
    expect((await keys.find(subject))!.open('input', sealed)).toEqual(SECRET);
  });
});

const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const FORMER = new KeyRing([key('k1', 1)]);
const ROTATING = new KeyRing([key('k2', 2), key('k1', 1)]);
const CURRENT = new KeyRing([key('k2', 2)]);

const counts = async () => Object.fromEntries(await countByKey(pool, SUBJECT_KEY_COLUMN));

const sealOne = async (keys: SubjectKeys) => {
  const subject = randomUUID();
  const sealed = (await keys.create(subject, 'ws_1')).seal('input', SECRET);
  return { subject, sealed };
};
/** Seals something for each of this many new subjects, a few at a time: a slow machine must not keep the last ones waiting. */
const sealFor = async (count: number, keys: SubjectKeys) => {
  const made: Awaited<ReturnType<typeof sealOne>>[] = [];
  while (made.length < count) {
    const some = Math.min(count - made.length, 20);
    made.push(...(await Promise.all(Array.from({ length: some }, () => sealOne(keys)))));
  }
  return made;
};

describe('Rewrapping', () => {
  beforeAll(() => pool.query('truncate platform.subject_key'));

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
