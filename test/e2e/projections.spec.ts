import { beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { OPERATIONAL_TABLES } from '../../apps/service/src/modules.js';
import { PROJECTIONS } from '../../apps/service/src/projections.js';
import { fixture, RECEIVER_SETTINGS, startStack } from '../support/index.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';

const stack = fixture(() => startStack({ env: RECEIVER_SETTINGS }));
const customer = fixture(() => Integrator.open(stack, 100_000));
const tables = PROJECTIONS.flatMap(({ views }) => views.map(({ table }) => table));
let readings: readonly string[];

const projections = (...args: string[]) => stack.ops(['projections', ...args]);
const refusal = (...args: string[]) => stack.runOps(['projections', ...args]);

const settled = async () => {
  const underWay = `select from readings.reading where status in ('queued', 'processing')`;
  await until(async () => (await stack.query(underWay)).length === 0, 'every reading ends');
  await untilHandled(stack);
};

/** Published, failed and erased readings, a test reading, an ended batch, keys, endpoints in every state, and books. */
beforeAll(async () => {
  readings = [await customer.published(), await customer.published()];
  const test = await customer.inTestMode();
  await test.published();
  const { body: batch } = await test.call('POST', '/api/v1/readings/bulk', {
    body: { mode: 'all', readings: [person()] },
  });
  const ended = async () =>
    (await test.call('GET', `/api/v1/batches/${String(batch['batchId'])}`)).body['endedAt'];
  await until(async () => (await ended()) !== null, 'the batch ends');
  await stack.ops(['erase', readings[0]!, '--yes']);
  const of = ['--workspace', customer.workspaceId];
  const { keyId } = (await stack.ops(['key', 'issue', ...of])) as { keyId: string };
  await stack.ops(['key', 'revoke', '--key', keyId]);
  await stack.ops(['workspace', 'webhooks', ...of, '--external-id', 'off']);
  for (const change of ['none', 'rotate', 'disable', 'delete']) {
    const made = await customer.endpoint('http://127.0.0.1:1999/hook', { events: ['reading.completed'] });
    const path = `/api/v1/webhooks/${made}`;
    if (change === 'rotate') await customer.call('POST', `${path}/rotate-secret`, { body: {} });
    if (change === 'disable') await customer.call('PATCH', path, { body: { enabled: false } });
    if (change === 'delete') await customer.call('DELETE', path);
  }
  await Integrator.open(stack, 40);
  await settled();
});

it('Read models and operational tables are the only tables', async () => {
  const rows = await stack.query<{ name: string }>(
    `select nspname || '.' || relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p') and not relispartition
       and nspname not in ('pg_catalog', 'information_schema', 'graphile_worker', 'migrations')
       and nspname !~ '^(graphile|pg_)' order by 1`,
  );
  const declared = [...tables, ...Object.keys(OPERATIONAL_TABLES)];
  expect(rows.map(({ name }) => name)).toEqual(declared.toSorted());
});

describe('tables that were lost', () => {
  const notReady = () => until(async () => (await stack.ready()).status === 503, 'the service is not ready');
  const failures = async () => (await stack.doctor()).filter(({ level }) => level === 'failure');
  const healthy = () =>
    until(
      async () => (await stack.ready()).status === 200 && (await failures()).length === 0,
      'the service is ready and ops doctor is clean',
    );

  it.each(['readings.reading', 'platform.subject_key'])(
    'such as %s make the service not ready, which lasts until they are back, and end no process',
    async (table) => {
      const pids = stack.pids();
      const [schema, name = ''] = table.split('.');
      await stack.query(`alter table ${table} rename to lost_table`);
      await notReady();
      expect((await stack.ready()).body).toMatchObject({
        checks: { postgres: true, tables: false },
        causes: { tables: 'table_missing' },
      });
      const found = await failures();
      await stack.query(`alter table ${schema}.lost_table rename to ${name}`);
      const advice = expect.stringContaining('Lost tables');
      expect(found).toMatchObject([{ cause: 'table_missing', message: `missing: ${table}`, advice }]);
      await healthy();
      expect(stack.pids()).toEqual(pids);
    },
  );

  it('leave a ledger that reconciles', async () => {
    expect(await stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ differences: [] });
  });
});

describe('a rebuild under load', () => {
  it('of each projection never fails a read, and ends with the same rows', async () => {
    const readingId = await customer.published();
    const stop = new AbortController();
    const failures: string[] = [];
    const [read, written] = [new Set<string>(), new Set<string>()];
    const writing = (async () => {
      while (!stop.signal.aborted) {
        const { status, body } = await customer.create(person());
        if (status !== 202) failures.push(`POST /readings: ${status}`);
        written.add(body.readingId);
        await delay(250);
      }
    })();
    const paths = [
      ...['', '/result', '/document?format=markdown'].map((part) => `readings/${readingId}${part}`),
      ...['readings?limit=20', 'webhooks', 'credits'],
    ];
    const reading = Promise.all(
      paths.map(async (path) => {
        while (!stop.signal.aborted) {
          const { status } = await customer.call('GET', `/api/v1/${path}`);
          if (status !== 200) failures.push(`GET ${path}: ${status}`);
          read.add(path);
          await delay(20);
        }
      }),
    );
    const replayed = await projections('replay', '--all').finally(() => stop.abort());
    await Promise.all([writing, reading]);
    expect(replayed).toEqual({
      replayed: PROJECTIONS.map(({ name: projection }) =>
        expect.objectContaining({ projection, differences: 0, switched: true }),
      ),
    });
    expect([failures, read.size, written.size > 0]).toEqual([[], paths.length, true]);
  });

  it('cannot be switched to before it is verified', async () => {
    await projections('rebuild', 'billing.balance.v1');
    for (const [args, said] of [
      [['switch', 'billing.balance.v1'], /^Version \d+ of billing.balance.v1 was not verified.\n$/],
      [['rebuild'], /name or --all/],
      [['rebuild', 'x'], /Known projections: workspaces/],
    ] as const)
      expect(await refusal(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(said) });
    expect(await projections('verify', 'billing.balance.v1')).toMatchObject({ equal: true });
    expect(await projections('drop', 'billing.balance.v1', '--unfinished')).toMatchObject({
      dropped: [{ projection: 'billing.balance.v1', versions: [expect.any(Number)] }],
    });
  });
});
