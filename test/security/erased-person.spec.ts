import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openDataFolder } from '../../apps/embedded/src/data-folder.js';
import { opsJson } from '../../apps/embedded/src/ops.js';
import { ProcessRecord } from '../../apps/embedded/src/processes.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { RECEIVER_SETTINGS, type StartedStack, startStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import {
  filesContaining,
  type Found,
  keysLeft,
  searchFiles,
  searchValues,
  type Sought,
} from './support/left-behind.js';
import { startPostgres } from '../../apps/embedded/src/postgres.js';

const STOP_WITHIN_MS = 5_000;

/**
 * The attacker has everything: the event log, PostgreSQL's files with its write-ahead log, a backup from before the
 * erasure, the secrets, and the remaining keys of epochs.
 */
const dataDir = temporaryDataDir();
const backupDir = temporaryDataDir();
let stack: StartedStack;
let customer: Integrator;

/** What a receiver knows of the person, and answers instead of taking the webhook. */
const ANSWER = 'Eurydice is order 4711-c0ffee';
/** In clear beside it, so that a search finds what is there. */
const DESCRIPTION = 'the endpoint 4711-decaf';
const receiver = createServer((_, response) => response.writeHead(500).end(ANSWER));

beforeAll(async () => {
  stack = await startStack({ dataDir, env: RECEIVER_SETTINGS });
  customer = await Integrator.open(stack, 400);
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  await stack?.stop();
  receiver.close();
  removeDataFolder(dataDir);
  removeDataFolder(backupDir);
});

const secrets = () =>
  JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as Record<
    'ENCRYPTION_KEYS' | 'POSTGRES_PASSWORD',
    string
  >;
const keys = () => keysLeft(secrets().ENCRYPTION_KEYS, join(dataDir, 'keys'));
const databaseOf = (folder: string): string => realpathSync(join(folder, 'postgres'));
/** Ends the retention, and the notice of what was announced, as for an operator who waited for both. */
const opsLater = async (args: readonly string[]) => {
  await stack.query(`update platform.key_epoch set announced_at = announced_at - interval '1 day'`);
  return opsJson({ ...process.env, DATA_DIR: dataDir, KEY_RETENTION_MS: '1' }, args);
};

/** A completed reading, and the sealed input that its first event keeps permanently (its row has the same). */
const readingOf = async (firstName: string): Promise<Sought> => {
  const { readingId } = (await customer.create(person(firstName))).body;
  await customer.untilEnded(readingId);
  const [row] = await stack.query<{ sealed_input: string }>(
    'select sealed_input from readings.reading where reading_id = $1',
    [readingId],
  );
  return { readingId, workspaceId: customer.workspaceId, sealedInput: row!.sealed_input };
};

/** Has receivers' answers about the readings stored. @returns the id of a delivery by reading */
const answeredDeliveries = async (readingIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const endpointId = await customer.endpoint(
    `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    { description: DESCRIPTION, events: ['reading.completed'] },
  );
  const path = `/api/v1/webhooks/${endpointId}`;
  await customer.call('POST', `${path}/replay`, { body: { since: '2026-01-01T00:00:00Z' } });
  const of = new Map<string, string>();
  await until(
    async () => {
      const { body } = await customer.call<{
        data: { deliveryId: string; readingId: string; lastAttempt: { statusCode: number | null } | null }[];
      }>('GET', `${path}/deliveries`);
      for (const { deliveryId, readingId, lastAttempt } of body.data)
        if (lastAttempt?.statusCode === 500) of.set(readingId, deliveryId);
      return readingIds.every((readingId) => of.has(readingId));
    },
    () => 'the webhooks were not answered',
  );
  return of;
};
/** What is stored of those attempts that the receiver answered: on a busy machine one may time out. */
const answersTo = async (deliveryId: string): Promise<readonly (string | null)[]> => {
  const shown = await stack.ops(['webhooks', 'delivery', '--delivery', deliveryId]);
  const { history } = shown as {
    history: readonly { statusCode: number | null; answer: string | null }[];
  };
  return [...new Set(history.filter(({ statusCode }) => statusCode === 500).map(({ answer }) => answer))];
};

const copyDatabase = async (): Promise<void> => {
  await promisify(execFile)('cp', ['-a', databaseOf(dataDir), join(backupDir, 'postgres')]);
};

/** Starts a server on the backup. @returns the wrapped keys by reading */
const restoredKeys = async (): Promise<ReadonlyMap<string, Buffer>> => {
  const folder = openDataFolder(backupDir);
  const events = { say: () => undefined, onRestart: () => undefined, onGivenUp: () => undefined };
  const { supervisor, urls } = await startPostgres(
    folder,
    secrets().POSTGRES_PASSWORD,
    new ProcessRecord(folder.processes),
    events,
    () => undefined,
  );
  try {
    const client = new pg.Client({ connectionString: urls.admin });
    await client.connect();
    const { rows } = await client.query<{ id: string; wrapped: Buffer }>(
      'select subject_id as id, wrapped_key as wrapped from platform.subject_key',
    );
    await client.end();
    return new Map(rows.map(({ id, wrapped }) => [id, wrapped]));
  } finally {
    await supervisor.stop(STOP_WITHIN_MS);
  }
};

const inputs = (found: readonly Found[]): readonly string[] => [...new Set(found.map(({ input }) => input))];

describe('An erased person', () => {
  let erased: Sought;
  let survivor: Sought;
  let deliveries: ReadonlyMap<string, string>;
  let erasedAt: { epoch: string; destroyAt: string };
  /** Found while the epoch's key existed. */
  let before: readonly Buffer[];

  beforeAll(async () => {
    erased = await readingOf('Eurydice');
    survivor = await readingOf('Alcestis');
    deliveries = await answeredDeliveries([erased.readingId, survivor.readingId]);
    for (const { readingId } of [erased, survivor])
      expect(await answersTo(deliveries.get(readingId)!)).toEqual([ANSWER]);
    await stack.stop();
    await copyDatabase();
    stack = await startStack({ dataDir, env: RECEIVER_SETTINGS });
    customer = customer.at(stack);
    await stack.ops(['erase', erased.readingId, '--yes']);
  });

  it('can be found in PostgreSQL’s files and backups while the epoch’s key exists, as docs/operations.md says', async () => {
    const status = (await stack.ops(['keys', 'status'])) as {
      epochs: { epoch: string; state: string; destroyAt: string; endsAt: string }[];
    };
    expect(status.epochs).toHaveLength(1);
    const [epoch] = status.epochs;
    erasedAt = epoch!;
    expect(epoch).toMatchObject({ state: 'current', rows: 1, provider: 'file' });
    expect(Date.parse(epoch!.destroyAt) - Date.parse(epoch!.endsAt)).toBe(35 * 86_400_000);

    before = keys();
    const live = searchFiles(databaseOf(dataDir), erased, before);
    expect(inputs(live)).toEqual([expect.stringContaining('Eurydice')]);
    expect(live.map(({ file }) => file).some((file) => file.includes('pg_wal'))).toBe(true);
    expect(inputs(searchFiles(databaseOf(backupDir), erased, keys()))).toEqual([
      expect.stringContaining('Eurydice'),
    ]);
  });

  it('has no answer of a receiver any more, and never had one in clear', async () => {
    expect(await answersTo(deliveries.get(erased.readingId)!)).toEqual([null]);
    expect(await answersTo(deliveries.get(survivor.readingId)!)).toEqual([ANSWER]);
    for (const folder of [dataDir, backupDir].map(databaseOf)) {
      expect(filesContaining(folder, ANSWER)).toEqual([]);
      expect(filesContaining(folder, DESCRIPTION).length).toBeGreaterThan(0);
    }
  });

  it('is not kept longer than promised; no survivor’s key is destroyed', async () => {
    const { former, current } = (await stack.ops(['keys', 'advance', '--yes'])) as Record<string, string>;
    expect(former).toBe(erasedAt.epoch);
    expect(current).not.toBe(former);
    expect(await stack.ops(['keys', 'retire', '--yes'])).toMatchObject({ destroyed: [] });
    expect(await stack.ops(['keys', 'rewrap', '--yes'])).toMatchObject({
      sealed: expect.arrayContaining([expect.objectContaining({ what: 'keys of readings', unopened: [] })]),
    });
    await until(
      async () => {
        const { destroyed } = (await opsLater(['keys', 'retire', '--yes'])) as { destroyed: string[] };
        return destroyed.includes(erasedAt.epoch);
      },
      () => 'the key is not destroyed',
    );
    expect(await stack.ops(['keys', 'status'])).toMatchObject({
      overdue: 0,
      epochs: [
        { epoch: erasedAt.epoch, state: 'destroyed', rows: 0 },
        { epoch: current, state: 'current', rows: 1 },
      ],
    });
  });

  it('can then be found nowhere with any remaining key: not in tables, dead rows, log or backup', async () => {
    expect(await customer.reading(survivor.readingId)).toMatchObject({
      input: { name: { firstNames: ['Alcestis'] } },
    });
    const after = await readingOf('Persephone');
    await stack.stop();
    const left = keys();
    expect(left).toHaveLength(2);

    for (const folder of [
      databaseOf(dataDir),
      databaseOf(backupDir),
      join(dataDir, 'logs'),
      join(dataDir, 'keys'),
    ])
      expect(searchFiles(folder, erased, left)).toEqual([]);
    const restored = await restoredKeys();
    for (const sought of [erased, survivor])
      expect(searchValues([restored.get(sought.readingId)!], sought, before)).toHaveLength(1);
    expect(searchValues([restored.get(erased.readingId)!], erased, left)).toEqual([]);

    // The same search finds a person who was not erased, so the search works.
    for (const sought of [survivor, after])
      expect(inputs(searchFiles(databaseOf(dataDir), sought, left))).toHaveLength(1);
    // The survivor's key in the backup was wrapped in the destroyed epoch. This is why the retention exists.
    expect(searchValues([restored.get(survivor.readingId)!], survivor, left)).toEqual([]);
  });
});
