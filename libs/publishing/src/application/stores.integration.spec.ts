import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { addJob } from '#platform/jobs/job.js';
import { transaction } from '#platform/postgres/pool.js';
import { testPool } from '../../../../test/support/test-pool.js';
import { makeToken, SECRET_BYTES, LinkStore, type NewLink } from './links.js';
import { PUBLISH_DOCUMENT, publishJobAgain, type OverduePublication } from '../processes.js';
import { type Artifact, ArtifactStore } from './artifact.store.js';
import { PublicationQuery } from './publications.js';
import { OVERDUE_PUBLICATIONS, PublicationMetrics } from './publish-document.job.js';

const KEYS = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const NOON = '2026-11-23T12:00:00.000Z';
const ONE = '2026-11-23T13:00:00.000Z';
const RENDERED = {
  document_v1: Buffer.from('{"a":1}'),
  markdown: Buffer.from('# Ada\n'),
  pdf: Buffer.alloc(140_000, 0x80),
};

const pool = testPool();
// As in a process of the service, which caches opened keys for a short time.
const keys = new SubjectKeys(pool, KEYS);
const artifacts = new ArtifactStore(pool, keys);
const links = new LinkStore(pool);

beforeAll(async () => {
  await addKey('key00001');
  await addKey('key00002');
});
beforeEach(() => pool.query('truncate publishing.publication, publishing.republication'));

/** A reading with a key of its own. */
const keyed = async (): Promise<string> => {
  const readingId = randomUUID();
  await keys.create(readingId, 'ws_1');
  return readingId;
};

/** @param age since it is due; `null`: it is made */
const first = async (age: string | null, readingId: string = randomUUID()): Promise<string> => {
  await pool.query(
    `insert into publishing.publication
       (reading_id, version, workspace_id, artifact_id, due_at, published_at, correlation_id)
     values ($1, 1, 'ws_1', '', now() - $2::interval, case when $2 is null then now() end, 'req_1')`,
    [readingId, age],
  );
  return readingId;
};
const later = async (age: string, readingId: string = randomUUID()): Promise<string> => {
  await pool.query(
    `insert into publishing.republication (reading_id, version, workspace_id, due_at, correlation_id)
     values ($1, 2, 'ws_1', now() - $2::interval, 'req_2')`,
    [readingId, age],
  );
  return readingId;
};

describe('overdue publications', () => {
  const overdue = async () => (await pool.query<OverduePublication>(OVERDUE_PUBLICATIONS, [10])).rows;

  it('are done again, later versions after first ones', async () => {
    const ids = [await first('1 minute'), await later('1 hour')] as const;
    expect((await overdue()).map(publishJobAgain).map(({ key, priority }) => [key, priority])).toEqual([
      [`publishing.publish:${ids[1]}`, 10],
      [`publishing.publish:${ids[0]}`, 1],
    ]);
  });

  it('that a worker is making are not, until the worker may have been killed', async () => {
    await first('1 minute');
    const [found] = await overdue();
    const { payload, ...options } = publishJobAgain(found!);
    const { text, values } = addJob(PUBLISH_DOCUMENT, payload, options);
    await pool.query(text, values as unknown[]);
    const takenFor = (seconds: number) =>
      pool.query(
        `update graphile_worker._private_jobs
         set attempts = 1, locked_by = 'worker', locked_at = now() - make_interval(secs => $1)`,
        [seconds],
      );
    await takenFor(20);
    expect(await overdue()).toEqual([]);
    await takenFor(40);
    expect(await overdue()).toEqual([found]);
  });

  it('are counted in gauges, with how long the oldest is', async () => {
    const gauges = async (): Promise<number[]> => {
      const registry = new Registry();
      new PublicationMetrics(pool, registry);
      const text = await registry.metrics();
      return [...text.matchAll(/^publications_\w+ ([\d.]+)$/gm)].map(([, value]) => Number(value));
    };
    await first(null);
    await first('-20 seconds');
    expect(await gauges()).toEqual([0, 0]);
    await first('2 minutes');
    await later('1 hour');
    const [overdueNow, oldest] = await gauges();
    expect([overdueNow, Math.floor(oldest! / 1_000)]).toEqual([2, 3]);
  });
});

describe('the newest version', () => {
  /** @param inStream the versions that the stream has published; null: the event store is away */
  const ask = (inStream: readonly number[] | null) => {
    const load = async () => {
      reads.ofStream += 1;
      if (!inStream) throw new StoreUnavailable('away', false);
      return { state: { published: new Map(inStream.map((version) => [version, {}])), pending: new Map() } };
    };
    const reads = { ofStream: 0 };
    return { query: new PublicationQuery(pool, { load } as never), reads };
  };

  it('is that of the stream while a later one is made, since rows may not show it yet; an earlier one is of its row', async () => {
    const readingId = await first(null);
    await later('1 second', readingId);
    expect(await ask([1]).query.find(readingId)).toBe(1);
    const { query, reads } = ask([1, 2]);
    expect([await query.find(readingId, 1), reads.ofStream, await query.find(readingId)]).toEqual([1, 0, 2]);
  });

  it('is that of its row while the event store is away', async () => {
    const readingId = await first(null);
    await later('1 second', readingId);
    expect(await ask(null).query.find(readingId)).toBe(1);
  });
});

/** Fewer than the connections of the pool, of which one holds the lock, and one looks. */
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
  const readingId = await keyed();
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
  const readingId = await keyed();
  const first = link(readingId);
  const added = await links.add(first, 1);
  const later = { createdAt: '2026-11-23T12:30:00.000Z', expiresAt: '2026-11-23T13:30:00.000Z' };
  expect(await links.add({ ...first, ...later }, 1)).toEqual(added);
  expect(added).toMatchObject({ linkId: first.linkId, createdAt: NOON, expiresAt: ONE });
  expect(await links.page(readingId, 100, null)).toHaveLength(1);
});

const addKey = (keyId: string) =>
  pool.query(
    `insert into workspaces.api_key (key_id, workspace_id, hash, mode, scopes, networks, issued_at)
     values ($1, 'ws_1', '', 'live', '{}', '{}', now()) on conflict do nothing`,
    [keyId],
  );

it('adds a link only while the key stands that makes it', async () => {
  const readingId = await keyed();
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
  expect(await links.add(link(randomUUID()), 5)).toBe('erased');
});

it('adds no link while its key is being revoked: who then ends its links finds all', async () => {
  const readingId = await keyed();
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
  const readingId = await keyed();
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
  const readingId = await keyed();
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

const edition = async () => {
  const readingId = await keyed();
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
    const one = await edition();
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
    const one = await edition();
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
    expect(await artifacts.get(one.readingId, 1, 'pdf')).toBeNull();
    expect(await artifacts.matches(one.readingId, RENDERED.pdf, digest)).toBeNull();
    expect(await artifacts.put({ ...one, version: 2 }, RENDERED)).toBeNull();
  });

  it('stored while the key is being destroyed wait for that, and are then not stored', async () => {
    const one = await edition();
    const eraser = await pool.connect();
    await eraser.query('begin');
    await eraser.query('delete from platform.subject_key where subject_id = $1', [one.readingId]);
    await eraser.query('delete from publishing.artifact where reading_id = $1', [one.readingId]);
    const storing = artifacts.put(one, RENDERED);
    await untilWaiting(1);
    await eraser.query('commit');
    eraser.release();
    expect(await storing).toBeNull();
    expect(await rowsOf(one.readingId)).toEqual([]);
  });

  it('almost stored when the key is destroyed make the erasure wait, and are then deleted', async () => {
    const one = await edition();
    const storing = await pool.connect();
    await storing.query('begin');
    await new ArtifactStore(storing as never, keys).put(one, RENDERED);
    const erased = (async () => {
      await pool.query('delete from platform.subject_key where subject_id = $1', [one.readingId]);
      await artifacts.discard(one.readingId);
    })();
    await untilWaiting(1);
    await storing.query('commit');
    storing.release();
    await erased;
    expect(await rowsOf(one.readingId)).toEqual([]);
  });
});
