import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { RECEIVER_SETTINGS, startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';

interface Restored {
  readonly complete: boolean;
  readonly tables: readonly { table: string; found: string; action: string; detail: string }[];
}
interface Finding {
  readonly check: string;
  readonly level: string;
  readonly message: string;
  readonly advice: string;
  readonly cause?: string;
}

let stack: StartedStack;
let customer: Integrator;
let database: pg.Client;
let readModels: readonly string[];
let readingId: string;
let pids: Readonly<Record<string, number>>;

beforeAll(async () => {
  stack = await startStack({ env: RECEIVER_SETTINGS });
  customer = await Integrator.open(stack, 1_000);
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  const listed = (await stack.ops(['projections', 'list'])) as { projections: { tables: string[] }[] };
  readModels = listed.projections.flatMap(({ tables }) => tables);
  await customer.call('POST', '/api/v1/webhooks', {
    body: { url: 'http://127.0.0.1:1999/hook', events: ['reading.completed'] },
  });
  readingId = (await customer.create(person())).body.readingId;
  await customer.untilEnded(readingId);
  await settled();
  pids = stack.pids();
});
afterAll(async () => {
  await database?.end();
  await stack?.stop();
});

const settled = () =>
  until(
    async () => {
      const lag = (await stack.ops(['projections', 'lag'])) as { consumers: { events: number }[] };
      return lag.consumers.every(({ events }) => events === 0);
    },
    () => 'the consumers are caught up',
  );

const rows = async (): Promise<Record<string, string[]>> => {
  const found: Record<string, string[]> = {};
  for (const table of readModels) {
    const result = await database.query<{ row: string }>(
      `select to_jsonb(t)::text as row from ${table} t order by 1`,
    );
    found[table] = result.rows.map(({ row }) => row);
  }
  return found;
};

const readiness = async () => {
  const answer = await fetch(`${stack.baseUrl}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { checks: object; causes: object } };
};
const notReady = () =>
  until(
    async () => (await readiness()).status === 503,
    () => 'the service is not ready',
  );
const failures = async (): Promise<readonly Finding[]> => {
  const { stdout } = await stack.runOps(['doctor', '--json']);
  return (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(({ level }) => level === 'failure');
};
const restore = async (...args: string[]): Promise<Restored & { code: number }> => {
  const { code, stdout, stderr } = await stack.runOps(['projections', 'restore', ...args, '--json']);
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Restored) };
};
/** Runs the command that the only finding names. */
const followAdvice = async (): Promise<Restored & { code: number }> => {
  const [finding, ...others] = await failures();
  expect([finding?.cause, others]).toEqual(['table_missing', []]);
  const [, args = ''] = /^ops projections restore ([^;]+)/.exec(finding!.advice) ?? [];
  return restore(...args.trim().split(' '));
};
const healthy = () =>
  until(
    async () => (await readiness()).status === 200 && (await failures()).length === 0,
    () => 'the service is ready and ops doctor is clean',
  );

describe.each(['workspaces', 'readings', 'publishing', 'billing', 'webhooks'])(
  'read models of %s that were dropped',
  (schema) => {
    it('come back by the command of ops doctor, and nothing was missed meanwhile', async () => {
      const own = readModels.filter((table) => table.startsWith(`${schema}.`));
      expect(own.length).toBeGreaterThan(0);
      const before = await rows();
      // A schema without operational tables goes as a whole.
      await database.query(
        schema === 'readings' ? 'drop schema readings cascade' : `drop table ${own.join(', ')}`,
      );

      await notReady();
      expect((await readiness()).body).toMatchObject({ checks: { postgres: true, tables: false } });
      expect((await readiness()).body.causes).toEqual({ tables: 'table_missing' });
      // An event that nobody can project now.
      await stack.ops(['workspace', 'create', '--name', `During ${schema}`]);
      const shown = await restore('--all', '--dry-run');
      expect(shown.tables.filter(({ found }) => found === 'missing').map(({ table }) => table)).toEqual(own);
      expect(shown).toMatchObject({ code: 1, complete: false });
      expect(await followAdvice()).toMatchObject({ code: 0, complete: true });

      await healthy();
      expect(await restore('--all', '--dry-run')).toMatchObject({ code: 0, complete: true });
      await settled();
      const after = await rows();
      for (const table of readModels)
        expect([table, after[table]]).toEqual([table, expect.arrayContaining(before[table]!)]);
      expect((await customer.call('GET', `/api/v1/readings/${readingId}`)).status).toBe(200);
    });
  },
);

describe('a column of a read model that was dropped', () => {
  it('is named by ops doctor, whose command makes the table again', async () => {
    const before = await rows();
    await database.query(`alter table billing.balance drop column due_at;
      alter table webhooks.endpoint alter column revision type text`);
    const [finding] = await failures();
    expect(finding?.message).toBe(
      'of another shape: billing.balance (due_at timestamp with time zone), webhooks.endpoint (revision bigint)',
    );
    expect(await followAdvice()).toMatchObject({
      code: 0,
      tables: expect.arrayContaining([
        expect.objectContaining({ table: 'billing.balance', found: 'misshapen', action: 'filled' }),
      ]),
    });
    await healthy();
    expect(await rows()).toEqual(before);
  });
});

describe('API keys that were truncated', () => {
  it('make the service not ready, and come back by the command of ops doctor', async () => {
    const before = await rows();
    await database.query('truncate workspaces.api_key');
    await notReady();
    expect((await readiness()).body.causes).toEqual({ tables: 'table_missing' });
    expect(await failures()).toMatchObject([
      { message: 'empty, although the log has rows for them: workspaces.api_key' },
    ]);
    expect(await followAdvice()).toMatchObject({ code: 0 });
    await healthy();
    expect(await rows()).toEqual(before);
    expect((await customer.call('GET', '/api/v1/credits')).status).toBe(200);
  });
});

it('no process died while read models were missing', () => {
  expect(stack.pids()).toEqual(pids);
});

describe('operational tables that were dropped', () => {
  it('are made without rows only on request, where that is possible', async () => {
    await database.query(
      'drop table platform.rate_bucket, webhooks.attempt; drop schema graphile_worker cascade',
    );
    // A worker that starts without the queue waits for it.
    const { worker } = stack.pids();
    process.kill(worker, 'SIGKILL');
    await until(
      async () => Promise.resolve(stack.pids().worker !== worker),
      () => 'the worker was started again',
    );
    const { worker: started } = stack.pids();
    expect(await restore('--all')).toMatchObject({ code: 1, complete: false });
    expect(await followAdvice()).toMatchObject({ code: 0, complete: true });
    await healthy();
    const next = (await customer.create(person())).body.readingId;
    await customer.untilEnded(next);
    expect(stack.pids().worker).toBe(started);
  });

  it.each([
    ['platform.subject_key', /only a backup/],
    ['event_sourcing.consumer', /only a backup/],
  ])('such as %s only come back from a backup', async (table, said) => {
    const [schema, name = ''] = table.split('.');
    await database.query(`alter table ${table} rename to lost_table`);
    const { code, stdout, stderr } = await stack.runOps(['projections', 'restore', '--all', '--make-empty']);
    const [finding, ...others] = await failures();
    await database.query(`alter table ${schema}.lost_table rename to ${name}`);
    expect([code, `${stdout}${stderr}`]).toEqual([1, expect.stringMatching(said)]);
    expect([finding, others]).toMatchObject([
      {
        cause: 'table_missing',
        message: `missing: ${table}`,
        advice: expect.stringContaining('ops restore'),
      },
      [],
    ]);
    await healthy();
  });
});

it('the ledger reconciles after all that', async () => {
  expect(await stack.ops(['ledger', 'reconcile', '--all'])).toMatchObject({ differences: [] });
});
