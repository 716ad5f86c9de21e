import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { RECEIVER_SETTINGS, startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';

interface Listed {
  readonly projections: readonly { name: string; tables: readonly string[]; keptBy: string }[];
  readonly operational: Readonly<Record<string, string>>;
}

let stack: StartedStack;
let customer: Integrator;
let database: pg.Client;
let listed: Listed;
/** All columns except those that the fence of holds writes beside the projection. */
const COLUMNS: Readonly<Record<string, string>> = {
  'billing.hold': 'workspace_id, mode, reservation_id, reading_id, amount, reserved_at',
};

beforeAll(async () => {
  stack = await startStack({ env: RECEIVER_SETTINGS });
  customer = await Integrator.open(stack, 100_000);
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  listed = (await stack.ops(['projections', 'list'])) as Listed;
});

afterAll(async () => {
  await database?.end();
  await stack?.stop();
});

const projections = (...args: string[]) => stack.ops(['projections', ...args]);
const refusal = (...args: string[]) => stack.runOps(['projections', ...args]);
const names = () => listed.projections.map(({ name }) => name);
const tables = () => listed.projections.flatMap((one) => one.tables);

/** Every row of every read model, as Postgres writes it. */
const readModels = async (): Promise<Record<string, string[]>> => {
  const dumps: Record<string, string[]> = {};
  for (const table of tables()) {
    const { rows } = await database.query<{ row: string }>(
      `select row(${COLUMNS[table] ?? `${table.split('.')[1]}.*`})::text as row from ${table} order by 1`,
    );
    dumps[table] = rows.map(({ row }) => row);
  }
  return dumps;
};
const settled = () =>
  until(
    async () => {
      const { consumers } = (await projections('lag')) as { consumers: { events: number }[] };
      const { rows } = await database.query(
        `select from readings.reading where status in ('queued', 'processing')`,
      );
      return rows.length === 0 && consumers.every(({ events }) => events === 0);
    },
    () => 'the stack is idle',
  );

/** Creates published, failed and erased readings, a test reading, an ended batch, keys, endpoints in every state, and books. */
const live = async (): Promise<string[]> => {
  const readings: string[] = [];
  for (let count = 0; count < 4; count += 1) readings.push((await customer.create(person())).body.readingId);
  for (const id of readings) await customer.untilEnded(id);
  const test = await customer.inTestMode();
  await test.untilEnded((await test.create(person())).body.readingId);
  const { body: batch } = await test.call<{ batchId: string }>('POST', '/api/v1/readings/bulk', {
    body: { mode: 'all', readings: [person()] },
  });
  await until(
    async () => (await test.call('GET', `/api/v1/batches/${batch.batchId}`)).body['endedAt'] !== null,
    () => 'the batch ends',
  );
  await stack.ops(['erase', readings[0]!, '--yes']);
  const { keyId } = (await stack.ops(['key', 'issue', '--workspace', customer.workspaceId])) as {
    keyId: string;
  };
  await stack.ops(['key', 'revoke', '--key', keyId]);
  await stack.ops(['workspace', 'webhooks', '--workspace', customer.workspaceId, '--external-id', 'off']);
  for (const change of ['none', 'rotate', 'disable', 'delete']) {
    const made = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: 'http://127.0.0.1:1999/hook', events: ['reading.completed'] },
    });
    expect(made.status).toBe(201);
    const path = `/api/v1/webhooks/${made.body.endpointId}`;
    if (change === 'rotate') await customer.call('POST', `${path}/rotate-secret`, { body: {} });
    if (change === 'disable') await customer.call('PATCH', path, { body: { enabled: false } });
    if (change === 'delete') await customer.call('DELETE', path);
  }
  await Integrator.open(stack, 40);
  await settled();
  return readings;
};

/** Their rows are gone when what they stand for is done. */
const UNDER_WAY = ['billing.hold', 'publishing.republication'];

describe('read models', () => {
  it('and operational tables are the only tables', async () => {
    const { rows } = await database.query<{ name: string }>(
      `select nspname || '.' || relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'p') and not relispartition
         and nspname not in ('pg_catalog', 'information_schema', 'graphile_worker', 'migrations')
         and nspname !~ '^(graphile|pg_)' order by 1`,
    );
    const declared = [...tables(), ...Object.keys(listed.operational)];
    expect(rows.map(({ name }) => name)).toEqual(declared.toSorted());
  });

  it('are restored byte by byte from the log alone after they were emptied', async () => {
    await live();
    const before = await readModels();
    expect(
      Object.entries(before).filter(([table, rows]) => rows.length === 0 && !UNDER_WAY.includes(table)),
    ).toEqual([]);

    await database.query(`truncate ${tables().join(', ')}`);
    expect(await refusal('replay', 'readings.reading.v1')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('NOT switched'),
    });
    await projections('replay', '--all', '--accept-differences', 'the tables were emptied');
    expect(await readModels()).toEqual(before);
  });

  it('are filled again by the worker after tables and checkpoints were lost', async () => {
    const before = await readModels();
    const own = listed.projections.filter(({ name, keptBy }) => name === keptBy);
    await database.query('begin');
    await database.query(`truncate ${own.flatMap((one) => one.tables).join(', ')}`);
    await database.query(
      'update event_sourcing.consumer set position = null, epoch = epoch + 1 where name = any ($1)',
      [own.map(({ name }) => name)],
    );
    await database.query('commit');
    process.kill(stack.pids().worker, 'SIGKILL');
    await until(
      async () => (await readModels())['workspaces.api_key']!.length === before['workspaces.api_key']!.length,
      () => 'the worker fills the tables again',
    );
    await settled();
    const after = await readModels();
    expect(after).toEqual(before);
  });
});

describe('a rebuild under load', () => {
  it('of each projection never fails a read, and ends with the same rows', async () => {
    const { readingId } = (await customer.create(person())).body;
    await customer.untilEnded(readingId);
    const stop = new AbortController();
    const failures: string[] = [];
    let reads = 0;
    let writes = 0;
    const writing = (async () => {
      while (!stop.signal.aborted) {
        const { status } = await customer.create(person());
        if (status !== 202) failures.push(`POST /readings: ${status}`);
        writes += 1;
        await delay(250);
      }
    })();
    const paths = [
      `/api/v1/readings/${readingId}`,
      `/api/v1/readings/${readingId}/result`,
      `/api/v1/readings/${readingId}/document?format=markdown`,
      '/api/v1/readings?limit=20',
      '/api/v1/webhooks',
      '/api/v1/credits',
    ];
    const reading = Promise.all(
      paths.map(async (path) => {
        while (!stop.signal.aborted) {
          const { status } = await customer.call('GET', path);
          if (status !== 200) failures.push(`GET ${path}: ${status}`);
          reads += 1;
          await delay(5);
        }
      }),
    );
    const replayed = await projections('replay', '--all').finally(() => stop.abort());
    await Promise.all([writing, reading]);
    expect(replayed).toEqual({
      replayed: names().map((projection) =>
        expect.objectContaining({ projection, differences: 0, switched: true }),
      ),
    });
    expect(failures).toEqual([]);
    expect([reads > 0, writes > 0]).toEqual([true, true]);

    await settled();
    await projections('rebuild', '--all');
    expect(await projections('verify', '--all')).toMatchObject({ equal: true });
    expect(await projections('drop', '--all', '--unfinished')).toMatchObject({
      dropped: names().map((projection) => ({ projection, versions: [expect.any(Number)] })),
    });
  });

  it('cannot be switched to before it is verified', async () => {
    await projections('rebuild', 'billing.balance.v1');
    expect(await refusal('switch', 'billing.balance.v1')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Version \d+ of billing.balance.v1 was not verified.\n$/),
    });
    expect(await refusal('rebuild')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/name or --all/),
    });
    expect(await refusal('rebuild', 'x')).toMatchObject({
      stderr: expect.stringMatching(/Known projections: workspaces/),
    });
    await projections('drop', 'billing.balance.v1', '--unfinished');
  });
});
