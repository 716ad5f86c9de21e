import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testPool } from '../../../../../../test/support/test-pool.js';
import { AGREEING } from '../../../time/testing/clocks-under-test.js';
import { KeyRing } from '../../key-ring.js';
import { countByKey } from '../../rewrapping.js';
import { SUBJECT_KEY_COLUMN, SubjectKeys } from '../../subject-keys.js';
import { EpochKeys, EpochRows, FileKeyStore, type EpochSettings } from '../epoch-keys.js';
import { KeyUpkeep, type UpkeepSettings } from '../key-upkeep.js';

export const RING = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
export const SECRET = Buffer.from('1815-12-10');
const WEEK_MS = 604_800_000;
export const never = new AbortController().signal;

/** Keys of epochs in a folder and a PostgreSQL of their own, empty in every case. Members are available only within tests. */
export const epochsUnderTest = () => {
  const pool = testPool();
  const rows = new EpochRows(pool);
  let parent: string;
  let folder: string;

  beforeAll(() => void (parent = mkdtempSync(join(tmpdir(), 'epochs-'))));
  afterAll(() => rmSync(parent, { recursive: true }));
  beforeEach(async () => {
    await pool.query('truncate platform.subject_key, platform.key_epoch');
    folder = join(parent, randomUUID());
  });

  const keysOf = (
    changed: Partial<EpochSettings> & { now?: () => number; folder?: string; isInFiles?: boolean } = {},
  ) => {
    const { now, folder: other = folder, isInFiles = true, ...settings } = changed;
    const store = isInFiles ? new FileKeyStore(other, RING) : null;
    return new EpochKeys(pool, RING, store, { lengthMs: WEEK_MS, cacheMs: 60_000, ...settings }, now);
  };
  const upkeepOf = (keys: EpochKeys, settings: Partial<UpkeepSettings> = {}, time = AGREEING) =>
    new KeyUpkeep(
      {
        pool,
        ring: RING,
        keys,
        time,
        log: { info: () => undefined, warn: () => undefined } as never,
      },
      { retentionMs: 1, noticeMs: 0, ...settings },
    );
  /** Moves the end of ended epochs into the past by this time. */
  const age = (milliseconds: number) =>
    pool.query(
      `update platform.key_epoch set started_at = started_at - make_interval(secs => $1),
         ends_at = ends_at - make_interval(secs => $1) where ends_at <= clock_timestamp()`,
      [milliseconds / 1_000],
    );
  const seal = async (keys: EpochKeys, subject = randomUUID()) => {
    const sealed = (await new SubjectKeys(pool, keys).create(subject, 'ws_1')).seal('input', SECRET);
    return { subject, sealed };
  };
  const wrappedBy = async () => Object.fromEntries(await countByKey(pool, SUBJECT_KEY_COLUMN));

  return {
    pool,
    rows,
    /** The parent of the folders. */
    get parent() {
      return parent;
    },
    /** The folder of this case. */
    get folder() {
      return folder;
    },
    keysOf,
    upkeepOf,
    age,
    seal,
    wrappedBy,
  };
};
