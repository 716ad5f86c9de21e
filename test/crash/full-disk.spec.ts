import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fill, removeDisk, smallDisk } from './support/small-disk.js';

const MEBIBYTE = 1024 * 1024;
const RESERVE_MIB = 100;

/** Makes PostgreSQL write mebibytes to its log. */
const writeAhead = ({ databaseUrl }: StartedStack, mebibytes: number): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (let one = 0; one < mebibytes; one++) await client.query(ONE_MEBIBYTE);
    await client.query('select pg_current_wal_flush_lsn(), pg_switch_wal()');
  });

const ONE_MEBIBYTE = `select pg_logical_emit_message(false, 'test', repeat('x', ${MEBIBYTE}))`;

/** Writes until the present file of PostgreSQL's log is nearly full: the next one is needed soon. */
const toTheEndOfALogFile = ({ databaseUrl }: StartedStack): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ left: number }>(
        `select size - (pg_current_wal_insert_lsn() - '0/0')::bigint % size as left
         from (select setting::bigint as size from pg_settings where name = 'wal_segment_size') as file`,
      );
      if (rows[0]!.left < 2 * MEBIBYTE) return;
      await client.query(ONE_MEBIBYTE);
    }
  });

/** Files that PostgreSQL's log has in stock, after the present one. */
const spareLogFiles = ({ databaseUrl }: StartedStack): Promise<number> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ files: number }>(
      `select count(*)::int as files from pg_ls_waldir()
       where name ~ '^[0-9A-F]{24}$' and name > pg_walfile_name(pg_current_wal_insert_lsn())`,
    );
    return rows[0]!.files;
  });

/** Waits until PostgreSQL may reuse what it has written to its log so far. */
const checkpointed = ({ databaseUrl }: StartedStack): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn');
    const isAfter = 'select checkpoint_lsn >= $1::pg_lsn as yes from pg_control_checkpoint()';
    await until(
      async () => (await client.query<{ yes: boolean }>(isAfter, [rows[0]!.lsn])).rows[0]!.yes,
      () => 'the stack makes PostgreSQL write a checkpoint',
    );
  });

const withClient = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

interface Readiness {
  readonly checks: Readonly<Record<string, boolean>>;
}
const readiness = async (stack: StartedStack): Promise<Readiness> =>
  (await (await fetch(`${stack.baseUrl}/readyz`)).json()) as Readiness;

describe('a disk without the reserve', () => {
  let stack: StartedStack;
  beforeAll(async () => {
    // More than any disk has.
    stack = await startStack({ env: { DISK_RESERVE_MIB: '1000000000' } });
  });
  afterAll(() => stack?.stop());

  it('new work gets 503 with the reason, reads and deletions continue, and /readyz names the disk', async () => {
    const customer = await Integrator.open(stack, 100);
    const refused = await customer.create(person());
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toMatchObject([
      503,
      { code: 'enqueue_unavailable', detail: expect.stringContaining('short of disk space') },
      '60',
    ]);
    expect((await customer.call('GET', '/api/v1/readings')).status).toBe(200);
    expect(
      (await customer.call('DELETE', '/api/v1/webhooks/6f1c2c3e-0000-4000-8000-000000000000')).status,
    ).toBe(404);
    expect(await readiness(stack)).toMatchObject({
      status: 'not ready',
      checks: { disk: false, postgres: true },
    });
  });
});

const folder = smallDisk(400);
// Mounting needs rights that not every user has; the behaviour below the reserve is tested above everywhere.
(folder === null ? describe.skip : describe)('a disk that is filled to the last byte', () => {
  let stack: StartedStack;
  let customer: Integrator;
  beforeAll(async () => {
    stack = await startStack({
      dataDir: join(folder!, 'data'),
      env: { DISK_RESERVE_MIB: String(RESERVE_MIB) },
    });
    customer = await Integrator.open(stack, 100_000);
  });
  afterAll(async () => {
    try {
      await stack?.stop();
    } finally {
      removeDisk(folder!);
    }
  });

  afterEach(() => {
    for (const name of ['below-the-reserve', 'to-the-last-byte', 'full'])
      rmSync(join(folder!, name), { force: true });
  });

  it('no process dies, reads continue, and the service recovers by itself when there is room', async () => {
    const { body } = await customer.create(person());
    await customer.untilEnded(body.readingId);
    const pids = stack.pids();
    await toTheEndOfALogFile(stack);

    fill(join(folder!, 'below-the-reserve'), freeBytes(folder!) - (RESERVE_MIB - 10) * MEBIBYTE);
    await until(
      async () => (await customer.create(person())).status === 503,
      () => 'new work is refused',
    );
    await until(
      async () => (await spareLogFiles(stack)) >= 3,
      () => 'the stack gives PostgreSQL spare files for its log',
    );
    const rest = join(folder!, 'to-the-last-byte');
    fill(rest, freeBytes(folder!));
    await until(
      async () => Promise.resolve(freeBytes(folder!) > 20 * MEBIBYTE),
      () => 'the stack makes room',
    );
    // More than the room that the stack makes: PostgreSQL reuses its log.
    for (let round = 0; round < 5; round++) {
      await writeAhead(stack, round === 0 ? 20 : 8);
      await checkpointed(stack);
      expect(await customer.call('GET', `/api/v1/readings/${body.readingId}`)).toMatchObject({ status: 200 });
      expect((await customer.create(person())).status).toBe(503);
    }
    expect(readFileSync(join(stack.dataDir, 'logs', 'postgres.log'), 'utf8')).not.toContain('PANIC');
    expect(stack.pids()).toEqual(pids);
    expect(stack.output()).toContain('is full');

    rmSync(rest);
    rmSync(join(folder!, 'below-the-reserve'));
    await until(
      async () => (await customer.create(person())).status === 202,
      () => 'new work is accepted again',
    );
    await until(
      async () => Promise.resolve(stack.output().includes('has room again')),
      () => 'the stack says that there is room',
    );
    expect(stack.pids()).toEqual(pids);
  });

  it('a database that dies meanwhile is started when there is room, however long that takes', async () => {
    const { postgres, main } = stack.pids();
    const file = join(folder!, 'full');
    fill(file, freeBytes(folder!));
    process.kill(postgres, 'SIGKILL');
    // Long enough for the six deaths that would end the stack. Someone else takes all the room that it makes.
    for (let round = 0; round < 50; round++) {
      fill(file, freeBytes(folder!));
      await delay(100);
    }
    expect(stack.pids().main).toBe(main);
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
    expect((await readiness(stack)).checks).toMatchObject({ postgres: false, disk: false });
    rmSync(file);
    await until(
      async () => (await customer.create(person())).status === 202,
      () => 'the service recovers',
    );
    expect(stack.pids().main).toBe(main);
  });
});
