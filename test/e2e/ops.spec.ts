import { describe, expect, it } from '@jest/globals';
import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { programPath } from '#platform/program-path.js';
import { CONTENT_VERSION } from '#publishing/contracts/index.js';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';

const MAIN = programPath('ops');
/** What Node does under a user id that /etc/passwd does not list. */
const NO_PASSWD_ENTRY = `data:text/javascript,${encodeURIComponent(
  `import os from 'node:os';
   import { syncBuiltinESMExports } from 'node:module';
   os.userInfo = () => { throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT'); };
   syncBuiltinESMExports();`,
)}`;

const stack = fixture(sharedStack);
const workspace = fixture(async () => {
  const created = await stack.ops(['workspace', 'create', '--name', 'Atelier']);
  return created as { readonly workspaceId: string };
});

/** Starts a command in a process of its own. */
const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}, flags: readonly string[] = []) => {
  const child = spawn(process.execPath, [...flags, MAIN, ...args], {
    env: { ...process.env, DATA_DIR: stack.dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stderr = text(child.stderr);
  return { child, ended: once(child, 'close').then(async ([code]) => ({ code, stderr: await stderr })) };
};

describe('the operator’s commands', () => {
  it('open a workspace, grant its credits, and show its book, its stream and its place in the list', async () => {
    const { workspaceId } = workspace;
    const of = ['--workspace', workspaceId];
    expect(workspaceId).toMatch(/^ws_[0-9A-Za-z]{22}$/);
    expect(await stack.ops(['plan', 'subscribe', ...of, '--plan', 'studio'])).toMatchObject({
      available: 400,
    });
    const buy = ['pack', 'add', ...of, '--pack', 'flex', '--order', `INV-${workspaceId}`];
    expect(await stack.ops(buy)).toMatchObject({ available: 450 });
    expect(await stack.ops(buy)).toMatchObject({ outcome: 'already_purchased', available: 450 });
    const none = { held: 0, consumed: 0, expired: 0, adjusted: 0 };
    expect(await stack.ops(['ledger', 'balance', ...of])).toEqual({ available: 450, granted: 450, ...none });
    const { entries } = (await stack.ops(['ledger', 'statement', ...of])) as { entries: { type: string }[] };
    const types = ['BookOpened', 'SubscriptionStarted', 'PlanGranted', 'PackPurchased'];
    expect(entries.map(({ type }) => type)).toEqual(types);
    const listed = expect.arrayContaining([expect.objectContaining({ workspaceId, name: 'Atelier' })]);
    expect(await stack.ops(['workspace', 'list'])).toMatchObject({ workspaces: listed });
    expect(await stack.ops(['streams', 'show', `workspace-${workspaceId}`])).toMatchObject({
      events: [{ type: 'WorkspaceOpened', revision: '0' }],
    });
  });

  // WS stands for the workspace.
  it.each<[string, string, RegExp]>([
    ['an unknown workspace', 'ledger balance --workspace ws_nobody', /There is no workspace ws_nobody/],
    ['an unknown plan', 'plan subscribe --workspace WS --plan gold', /studio.*access-local/],
    ['a plan that needs approval', 'plan subscribe --workspace WS --plan access-local', /: add --approval/],
    [
      'a correction without an operator’s key',
      'credits adjust --amount 5 --reason r --reference r --key /none/a.pem --workspace WS',
      /The key \/none\/a.pem cannot be read/,
    ],
    // No route takes it from a token: only keys read readings.
    ['a token that reads readings', 'token mint --workspace WS --scope readings:read', /is not a scope/],
  ])('refuse %s in one line, with exit code 1', async (_, typed, message) => {
    const args = typed.replace('WS', workspace.workspaceId).split(' ');
    const { code, stdout, stderr } = await stack.runOps([...args, '--json']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('report in one line that no stack is running', async () => {
    const { code, stderr } = await start(['workspace', 'list'], { DATA_DIR: '/nonexistent' }).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^No stack is running on[^\n]*\n$/)]);
  });

  it('show what has outlived its term, and delete it', async () => {
    const { worker } = stack.pids();
    process.kill(worker, 'SIGSTOP');
    try {
      await stack.query(
        `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                                created_at, settled_at)
         select gen_random_uuid(), 'we_old', 'evt_old', 'succeeded', 0, false, false, at, at
         from (values (timestamptz '2020-01-01'), ('2020-01-02'), ('2020-01-03')) old (at)`,
      );
      const left = () => stack.query(`select from webhooks.settled_delivery where endpoint_id = 'we_old'`);
      expect(await stack.report(['retention', 'status'])).toMatchObject({ code: 1, late: ['deliveries'] });
      const shown = /deliveries +90 +2020-01-01T00:00 +3 /;
      expect((await stack.runOps(['retention', 'status'])).stdout).toMatch(shown);
      expect((await stack.runOps(['retention', 'run', '--kinds', 'test-readings'])).stderr).toContain(
        'Workers alone delete test-readings',
      );
      expect(await left()).toHaveLength(3);
      expect(await stack.ops(['retention', 'run', '--kinds', 'deliveries'])).toMatchObject({
        kinds: [{ kind: 'deliveries', removed: 3 }],
      });
      expect(await left()).toEqual([]);
    } finally {
      process.kill(worker, 'SIGCONT');
    }
  });

  it('publish documents again: some, then the rest, and nothing twice', async () => {
    const customer = await Integrator.open(stack, 40);
    const readings = [await customer.published(), await customer.published()];
    const texts = (change: string) => stack.query(change, [customer.workspaceId]);
    const recorded = (count: number) =>
      until(async () => {
        const select =
          'select from publishing.publication where workspace_id = $1 and content_version is not null';
        return (await texts(select)).length === count;
      }, `rows of ${count} publications`);
    await recorded(2);
    // As if a worker had made them that does not record its texts.
    await texts('update publishing.publication set content_version = null where workspace_id = $1');
    const republish = (...options: string[]) =>
      stack.ops([
        ...['publications', 'republish', '--content-version', 'unknown', '--rate', '100'],
        ...['--workspace', customer.workspaceId, ...options],
      ]);
    const versions = async () =>
      (await Promise.all(readings.map((id) => customer.reading(id)))).map(({ document }) => document.version);

    expect(await republish()).toMatchObject({ found: 2, requested: 0, dryRun: true });
    expect(await versions()).toEqual([1, 1]);
    expect(await republish('--limit', '1', '--yes')).toMatchObject({ found: 1, requested: 1, dryRun: false });
    await recorded(1);
    expect(await republish('--yes')).toMatchObject({ found: 1, requested: 1, underWay: 0 });
    await recorded(2);
    await until(async () => (await versions()).join() === '2,2', 'two second versions');
    const current = stack.ops(['publications', 'republish', '--content-version', CONTENT_VERSION]);
    await expect(current).rejects.toThrow(/are the current texts/);
  });
});

describe('the operator’s commands, wherever they run,', () => {
  it('work under a user id without a name, and record the id', async () => {
    const create = ['workspace', 'create', '--name', 'Nobody’s', '--json'];
    const { child, ended } = start(create, {}, ['--import', NO_PASSWD_ENTRY]);
    const { workspaceId } = JSON.parse(await text(child.stdout)) as { workspaceId: string };
    expect(await ended).toEqual({ code: 0, stderr: '' });
    expect(await stack.ops(['streams', 'show', `workspace-${workspaceId}`])).toMatchObject({
      events: [{ metadata: { actor: `operator:uid-${process.getuid!()}` } }],
    });
  });

  it('end quietly when nobody reads on, with the code of a closed pipe if they were not done', async () => {
    const { child, ended } = start(['ledger', 'export', '--workspace', workspace.workspaceId]);
    child.stdout.destroy();
    expect(await ended).toEqual({ code: 141, stderr: '' });
  });

  it('fail with one line when their output is on a full disk', () => {
    const full = openSync('/dev/full', 'w');
    const stdio: StdioOptions = ['ignore', full, 'pipe'];
    const { status, stderr } = spawnSync(process.execPath, [MAIN, '--help'], { stdio, encoding: 'utf8' });
    closeSync(full);
    expect([status, stderr]).toEqual([1, 'The output is not complete: its disk is full.\n']);
  });
});
