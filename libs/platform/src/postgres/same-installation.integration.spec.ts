import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { installationOf } from '../crypto/installation.js';
import { faultOf } from '../fault/fault.js';
import { openPool } from './pool.js';
import { refuseOtherInstallation } from './same-installation.js';

const OURS = installationOf({ DIGEST_KEY: Buffer.alloc(32, 1).toString('base64') });
const OTHER = installationOf({ DIGEST_KEY: Buffer.alloc(32, 2).toString('base64') });

let postgres: StartedPostgres;
let pools: pg.Pool[];

beforeEach(async () => {
  postgres = await freshDatabase();
  pools = [];
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await postgres.stop();
});

const open = (name: string, isNoted = true): pg.Pool => {
  const pool = openPool(postgres.databaseUrl, {
    size: 2,
    applicationName: 'x',
    onError: () => undefined,
    queryTimeoutMs: 60_000,
    installation: { name, isNoted },
  });
  pools.push(pool);
  return pool;
};
const asked = (pool: pg.Pool): Promise<unknown> =>
  pool.query('select 1').then(
    () => 'answered',
    (error: unknown) => error,
  );
const noted = async (): Promise<unknown[]> => {
  const { rows } = await open(OURS, false).query('select fingerprint from platform.installation');
  return rows;
};

describe('A session', () => {
  it('notes the installation of an unused database, and others of it are welcome', async () => {
    expect(await asked(open(OURS))).toBe('answered');
    expect(await asked(open(OURS))).toBe('answered');
    expect(await noted()).toEqual([{ fingerprint: OURS }]);
  });

  it('on the database of another installation is refused with its cause, as a dependency that is away', async () => {
    await asked(open(OURS));
    for (const isNoted of [true, false]) {
      const error = await asked(open(OTHER, isNoted));
      expect(faultOf(error)).toMatchObject({
        kind: 'other_installation',
        message: 'PostgreSQL was not used with this DIGEST_KEY (its installation has another one)',
      });
      expect(isDependencyAway(error)).toBe(true);
    }
    expect(await noted()).toEqual([{ fingerprint: OURS }]);
  });

  it('of a command notes nothing', async () => {
    expect(await asked(open(OTHER, false))).toBe('answered');
    expect(await noted()).toEqual([]);
  });

  it('of many processes that start at once is refused in all but those of one installation', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, place) => asked(open(place % 2 === 0 ? OURS : OTHER))),
    );
    const [even, odd] = [0, 1].map((rest) => answers.filter((_, place) => place % 2 === rest));
    const welcome = [even!, odd!].filter((those) => those.every((one) => one === 'answered'));
    expect(welcome).toHaveLength(1);
    expect(answers.filter((one) => one === 'answered')).toHaveLength(4);
  });

  it('is not refused before the migration that adds the table', async () => {
    await open(OURS).query('drop table platform.installation');
    expect(await asked(open(OTHER))).toBe('answered');
  });
});

it('a name that could carry SQL is refused', () => {
  expect(() => refuseOtherInstallation("'; drop table x; --", true)).toThrow('names no installation');
});
