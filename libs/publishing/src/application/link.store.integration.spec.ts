import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { openPool, transaction } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { SECRET_BYTES, makeToken } from '../domain/link-token.js';
import { LinkStore, type NewLink } from './links.js';

const KEYS = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const NOON = '2026-11-23T12:00:00.000Z';
const ONE = '2026-11-23T13:00:00.000Z';

let postgres: StartedPostgres;
let pool: pg.Pool;
let links: LinkStore;

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 8, applicationName: 'links spec', onError: () => undefined });
  links = new LinkStore(pool);
  await addKey('key00001');
  await addKey('key00002');
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

/** As many connections are in the pool, one to hold the lock, and one to look. */
const AT_ONCE = 6;

const untilWaiting = async (count: number): Promise<void> => {
  for (;;) {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rowCount === count) return;
    await delay(10);
  }
};

const reading = async (): Promise<string> => {
  const readingId = randomUUID();
  await new SubjectKeys(pool, KEYS).create(readingId, 'ws_1');
  return readingId;
};
const link = (readingId: string, changes: Partial<NewLink> = {}): NewLink => ({
  linkId: randomUUID(),
  readingId,
  workspaceId: 'ws_1',
  format: 'pdf',
  version: null,
  createdAt: NOON,
  expiresAt: ONE,
  tokenHash: makeToken(randomBytes(SECRET_BYTES)).hash,
  createdBy: 'apiKey:key00001',
  ...changes,
});

it('adds no link beyond the limit, however many are asked for at once', async () => {
  const readingId = await reading();
  const asked = await transaction(pool, async (client) => {
    await client.query('select from platform.subject_key where subject_id = $1 for update', [readingId]);
    // Not awaited here: they begin at once, and wait for the lock.
    const adding = Array.from({ length: AT_ONCE }, () => links.add(link(readingId), 2));
    await untilWaiting(AT_ONCE);
    return { adding };
  });
  const outcomes = await Promise.all(asked.adding);
  expect(outcomes.filter((outcome) => outcome === 'too_many')).toHaveLength(AT_ONCE - 2);
  expect(outcomes.filter((outcome) => typeof outcome === 'object')).toHaveLength(2);
  expect(await links.page(readingId, 100, null)).toHaveLength(2);
});

it('adds a link once, whose request is repeated: the repeat gets it as it is, also when there is no room', async () => {
  const readingId = await reading();
  const first = link(readingId);
  const added = await links.add(first, 1);
  const later = { createdAt: '2026-11-23T12:30:00.000Z', expiresAt: '2026-11-23T13:30:00.000Z' };
  expect(await links.add({ ...first, ...later }, 1)).toEqual(added);
  expect(added).toMatchObject({ linkId: first.linkId, createdAt: NOON, expiresAt: ONE });
  expect(await links.page(readingId, 100, null)).toHaveLength(1);
});

it('adds no link to a reading whose key is gone', async () => {
  expect(await links.add(link(randomUUID()), 5)).toBe('erased');
});

const addKey = (keyId: string) =>
  pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, mode, scopes, networks, issued_at)
     values ($1, 'ws_1', '', 'live', '{}', '{}', now()) on conflict do nothing`,
    [keyId],
  );

it('adds a link only while the key stands that makes it', async () => {
  const readingId = await reading();
  await addKey('leaked01');
  const by = (createdBy: string) => link(readingId, { createdBy });
  const first = by('apiKey:leaked01');
  expect(await links.add(first, 5)).toMatchObject({ linkId: first.linkId });
  await pool.query(`update workspaces.api_key set expires_at = $1 where key_id = 'leaked01'`, [NOON]);
  expect(await links.add(by('apiKey:leaked01'), 5)).toBe('key_ended');
  await pool.query(
    `update workspaces.api_key set expires_at = null, revoked_at = now() where key_id = 'leaked01'`,
  );
  expect(await links.add(by('apiKey:leaked01'), 5)).toBe('key_ended');
  expect(await links.add(first, 5)).toBe('key_ended');
  expect(await links.add(by('portal:s1'), 5)).toMatchObject({ readingId });
});

it('adds no link while its key is being revoked: who then ends its links finds all', async () => {
  const readingId = await reading();
  await addKey('leaked02');
  const adding = await transaction(pool, async (client) => {
    await client.query(`update workspaces.api_key set revoked_at = now() where key_id = 'leaked02'`);
    const asked = links.add(link(readingId, { createdBy: 'apiKey:leaked02' }), 5);
    await untilWaiting(1);
    return { asked };
  });
  expect(await adding.asked).toBe('key_ended');
});

it('ends the live links that some callers made in a workspace, and no other', async () => {
  const readingId = await reading();
  const [leaked, other, stranger] = [
    link(readingId),
    link(readingId, { createdBy: 'apiKey:key00002' }),
    link(readingId, { workspaceId: 'ws_2' }),
  ];
  for (const one of [leaked, other, stranger]) await links.add(one, 5);
  const makers = ['apiKey:key00001', 'apiKey:key00009'];
  expect(await links.revokeMadeBy('ws_1', makers, NOON)).toBeGreaterThan(0);
  const isLive = async ({ tokenHash }: NewLink) => (await links.byToken(tokenHash))?.revokedAt === null;
  expect([await isLive(leaked), await isLive(other), await isLive(stranger)]).toEqual([false, true, true]);
  expect(await links.revokeMadeBy('ws_1', makers, NOON)).toBe(0);
});

it('forgets links a month after they expired, in steps, until the process stops', async () => {
  const readingId = await reading();
  await pool.query(
    `insert into publishing.document_link (link_id, reading_id, workspace_id, format, created_by, created_at, expires_at, token_sha256)
     select gen_random_uuid(), $1, 'ws_1', 'pdf', 'apiKey:k', now() - interval '60 days',
            now() - case when n = 0 then interval '29 days' else interval '31 days' end, sha256(n::text::bytea)
     from generate_series(0, 5_001) n`,
    [readingId],
  );
  const stopping = new AbortController();
  stopping.abort();
  await links.forget(stopping.signal);
  expect(await links.page(readingId, 10, null)).toHaveLength(2);
  await links.forget(new AbortController().signal);
  expect(await links.page(readingId, 10, null)).toHaveLength(1);
});
