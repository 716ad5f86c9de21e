import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programPath } from '#platform/program-path.js';
import { CONTENT_VERSION } from '#publishing/contracts/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/index.js';
import { inDatabase } from './support/in-database.js';

let stack: StartedStack;
let workspaceId: string;

beforeAll(async () => {
  stack = await startStack();
  ({ workspaceId } = (await stack.ops(['workspace', 'create', '--name', 'Atelier'])) as {
    workspaceId: string;
  });
});

afterAll(async () => {
  await stack?.stop();
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = async (
  args: readonly string[],
  dataDir = stack.dataDir,
  env: Record<string, string> = {},
): Promise<Ended> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [programPath('ops'), ...args],
      // A command that never ends by itself is killed, and then has no exit code.
      { env: { ...process.env, DATA_DIR: dataDir, ...env }, timeout: 60_000, killSignal: 'SIGKILL' },
    );
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Ended;
  }
};

describe('the operator’s commands', () => {
  it('open a workspace, grant its credits, and show its book', async () => {
    const of = ['--workspace', workspaceId];
    expect(workspaceId).toMatch(/^ws_[0-9A-Za-z]{22}$/);
    expect(await stack.ops(['plan', 'subscribe', ...of, '--plan', 'studio'])).toMatchObject({
      available: 400,
    });
    expect(await stack.ops(['pack', 'add', ...of, '--pack', 'flex', '--order', 'INV-1'])).toMatchObject({
      available: 450,
    });
    expect(await stack.ops(['pack', 'add', ...of, '--pack', 'flex', '--order', 'INV-1'])).toMatchObject({
      outcome: 'already_purchased',
      available: 450,
    });
    expect(await stack.ops(['ledger', 'balance', ...of])).toEqual({
      available: 450,
      held: 0,
      consumed: 0,
      expired: 0,
      granted: 450,
      adjusted: 0,
    });
    const { entries } = (await stack.ops(['ledger', 'statement', ...of])) as { entries: { type: string }[] };
    expect(entries.map(({ type }) => type)).toEqual([
      'BookOpened',
      'SubscriptionStarted',
      'PlanGranted',
      'PackPurchased',
    ]);
  });

  it('list workspaces and show streams', async () => {
    const { workspaces } = (await stack.ops(['workspace', 'list'])) as {
      workspaces: { workspaceId: string; name: string }[];
    };
    expect(workspaces).toContainEqual(expect.objectContaining({ workspaceId, name: 'Atelier' }));
    const { events } = (await stack.ops(['streams', 'show', `workspace-${workspaceId}`])) as {
      events: { type: string; revision: string }[];
    };
    expect(events.map(({ type, revision }) => [type, revision])).toEqual([['WorkspaceOpened', '0']]);
  });

  it('print text without --json, and have help texts', async () => {
    const text = await run(['ledger', 'balance', '--workspace', workspaceId]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain('available');
    const help = await run(['pack', 'add', '--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Example:');
  });

  it.each<[string, () => string[], RegExp]>([
    [
      'an unknown workspace',
      () => ['ledger', 'balance', '--workspace', 'ws_nobody'],
      /There is no workspace ws_nobody/,
    ],
    ['an unknown key', () => ['key', 'revoke', '--key', 'nobody12'], /There is no API key nobody12/],
    ['an unknown stream', () => ['streams', 'show', 'reading-nothing'], /There is no stream reading-nothing/],
    [
      'an unknown plan',
      () => ['plan', 'subscribe', '--workspace', workspaceId, '--plan', 'gold'],
      /studio.*access-local/,
    ],
    [
      'an unknown pack',
      () => ['pack', 'add', '--workspace', workspaceId, '--pack', 'x', '--order', 'o'],
      /flex.*burst/,
    ],
    [
      'a plan that needs approval',
      () => ['plan', 'subscribe', '--workspace', workspaceId, '--plan', 'access-local'],
      /requires an approval reference: add --approval/,
    ],
    [
      'a malformed amount',
      () => ['credits', 'adjust', '--workspace', workspaceId, '--amount', '1.5', '--reason', 'r'],
      /whole number/,
    ],
    [
      'a correction without an operator’s key',
      () =>
        'credits adjust --amount 5 --reason r --reference r --key /none/a.pem --workspace'
          .split(' ')
          .concat(workspaceId),
      /The key \/none\/a.pem cannot be read/,
    ],
    ['a missing option', () => ['key', 'issue'], /--workspace/],
    ['a malformed time', () => ['key', 'issue', '--workspace', workspaceId, '--expires', 'soon'], /RFC 3339/],
    [
      'an expiry in the past',
      () => ['key', 'issue', '--workspace', workspaceId, '--expires', '2020-01-01T00:00:00Z'],
      /must be in the future/,
    ],
    ['an empty label', () => ['key', 'issue', '--workspace', workspaceId, '--label', ''], /not be empty/],
    [
      'a long label',
      () => ['key', 'issue', '--workspace', workspaceId, '--label', 'x'.repeat(101)],
      /1 to 100 characters/,
    ],
    ['a workspace without a name', () => ['workspace', 'create', '--name', ' '], /not be empty/],
    [
      'an unknown consumer',
      () => ['parked', 'list', 'billing.balanse.v1'],
      /There is no consumer billing\.balanse\.v1\. Known consumers: .*billing\.settlement\.v1/,
    ],
    [
      'a revision beyond the book',
      () => ['ledger', 'balance', '--workspace', workspaceId, '--as-of', '20261101'],
      /a revision from 0 to \d+, the last of this book, or a time such as 2026-04-30/,
    ],
    [
      'a balance of the future',
      () => ['ledger', 'balance', '--workspace', workspaceId, '--as-of', '2999-01-01'],
      /not be in the future/,
    ],
    [
      'a day that does not exist',
      () => ['ledger', 'balance', '--workspace', workspaceId, '--as-of', '2026-02-30'],
      /a day that exists/,
    ],
    ['an unknown command', () => ['frobnicate'], /unknown command/],
  ])('refuse %s in one line, with exit code 1', async (_, args, message) => {
    const { code, stdout, stderr } = await stack.runOps([...args(), '--json']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('report in one line that no stack is running', async () => {
    const { code, stderr } = await run(['workspace', 'list'], '/nonexistent');
    expect(code).toBe(1);
    expect(stderr.trim()).toMatch(/^No stack is running on/);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('show what has outlived its term, and delete it', async () => {
    const worker = stack.pids().worker;
    process.kill(worker, 'SIGSTOP');
    try {
      await inDatabase(
        stack,
        `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery, created_at,
                                                settled_at)
         select gen_random_uuid(), 'we_old', 'evt_old', 'succeeded', 0, false, false, at, at
         from (values (timestamptz '2020-01-01'), ('2020-01-02'), ('2020-01-03')) old (at)`,
      );
      const left = () =>
        inDatabase(stack, `select from webhooks.settled_delivery where endpoint_id = 'we_old'`);
      const status = await run(['retention', 'status', '--json']);
      expect([status.code, (JSON.parse(status.stdout) as { late: unknown }).late]).toEqual([
        1,
        ['deliveries'],
      ]);
      expect((await run(['retention', 'run', '--dry-run'])).stdout).toMatch(
        /deliveries +90 +2020-01-01T00:00 +3 /,
      );
      const wrong = await run(['retention', 'run', '--kinds', 'deliveries,all']);
      expect([wrong.code, wrong.stderr]).toEqual([
        1,
        expect.stringContaining('--kinds takes deliveries, events,'),
      ]);
      const ofWorkers = await run(['retention', 'run', '--kinds', 'deliveries,test-readings']);
      expect([ofWorkers.code, ofWorkers.stderr]).toEqual([
        1,
        expect.stringContaining('Workers alone delete test-readings'),
      ]);
      expect(await left()).toHaveLength(3);
      expect(await stack.ops(['retention', 'run', '--kinds', 'deliveries'])).toMatchObject({
        kinds: [{ kind: 'deliveries', removed: 3 }],
      });
      expect(await left()).toEqual([]);
      expect(await stack.ops(['retention', 'status'])).toMatchObject({
        late: [],
        kinds: expect.arrayContaining([expect.objectContaining({ kind: 'audit', days: 400 })]),
      });
    } finally {
      process.kill(worker, 'SIGCONT');
    }
  });
});

describe('publications republish', () => {
  it('counts, publishes some, then the rest, and nothing twice', async () => {
    const customer = await Integrator.open(stack, 60);
    const readings: string[] = [];
    for (let n = 0; n < 3; n += 1) readings.push((await customer.create(person())).body.readingId);
    for (const readingId of readings) await customer.untilEnded(readingId);
    const recorded =
      'select 1 from publishing.publication where workspace_id = $1 and content_version is not null';
    const texts = (change: string) => inDatabase(stack, change, [customer.workspaceId]);
    await until(
      async () => (await texts(recorded)).length === 3,
      () => 'rows of three publications',
    );
    // As if a worker had made them that does not record its texts.
    await texts('update publishing.publication set content_version = null where workspace_id = $1');
    const republish = (...options: string[]) =>
      stack.ops([
        ...['publications', 'republish', '--content-version', 'unknown', '--rate', '100'],
        ...['--workspace', customer.workspaceId, ...options],
      ]);
    const versions = async () =>
      (await Promise.all(readings.map((id) => customer.reading(id)))).map(({ document }) => document.version);

    expect(await republish()).toMatchObject({ found: 3, requested: 0, dryRun: true });
    expect(await republish('--dry-run')).toMatchObject({ found: 3, requested: 0, dryRun: true });
    expect(await versions()).toEqual([1, 1, 1]);
    expect(await republish('--limit', '1', '--yes')).toMatchObject({ found: 1, requested: 1, dryRun: false });
    await until(
      async () => (await versions()).filter((version) => version === 2).length === 1,
      () => 'one second version',
    );
    await until(
      async () => (await texts(recorded)).length === 1,
      () => 'its row',
    );
    expect(await republish('--yes')).toMatchObject({ found: 2, requested: 2, underWay: 0 });
    await until(
      async () => (await versions()).every((version) => version === 2),
      () => 'three second versions',
    );
    await until(
      async () => (await texts(recorded)).length === 3,
      () => 'rows of three second versions',
    );
    expect(await republish('--yes')).toMatchObject({ found: 0, requested: 0 });
    expect(await versions()).toEqual([2, 2, 2]);
    await expect(
      stack.ops(['publications', 'republish', '--content-version', CONTENT_VERSION]),
    ).rejects.toThrow(/are the current texts/);
  });
});
