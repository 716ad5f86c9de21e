import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { programPath } from '#platform/program-path.js';
import { Integrator, person, until } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/index.js';
import { OpsProcess } from '../support/ops-process.js';
import { startPostgres, type StartedPostgres } from '../support/start-postgres.js';

const scratch = mkdtempSync(join(tmpdir(), 'restore-servers-'));
const to = join(scratch, 'backup');
let stack: StartedStack;
let other: StartedPostgres;
let ops: OpsProcess;

/** The stack's stores, as servers that only their addresses name. */
const serverSettings = (): NodeJS.ProcessEnv => {
  const { pids: _, ...settings } = JSON.parse(
    readFileSync(join(stack.dataDir, 'runtime.json'), 'utf8'),
  ) as Record<string, string>;
  return settings;
};

beforeAll(async () => {
  stack = await startStack();
  other = await startPostgres();
  ops = new OpsProcess({ ...process.env, ...serverSettings() });
});

afterAll(async () => {
  ops?.stop();
  await Promise.all([stack?.stop(), other?.stop()]);
  rmSync(scratch, { recursive: true, force: true });
});

const main = programPath('embedded-event-store');
const copyStore = () => `node ${main} backup --data ${stack.dataDir}/event-store --to "$BACKUP_DIR/store"`;
const backup = (command: string) => [
  'backup',
  '--to',
  to,
  '--without-keys',
  '--event-store-command',
  command,
];

const count = async (url: string, table: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(`select count(*) from ${table}`);
  await client.end();
  return Number(rows[0]!.count);
};

/** What a run that was killed leaves. */
const unfinished = (): string[] =>
  readdirSync(scratch)
    .filter((name) => name.includes('.unfinished'))
    .map((name) => join(scratch, name));

it('servers are backed up by the operator’s own command, and restored into empty ones', async () => {
  const customer = await Integrator.open(stack, 100);
  const { readingId } = (await customer.create(person())).body;
  await customer.untilEnded(readingId);

  expect((await ops.run(['backup', '--to', to, '--without-keys'])).stderr).toMatch(/--event-store-data or/);
  // A failure and a kill leave nothing that could be taken for a backup.
  expect((await ops.run(backup('exit 3'))).stderr).toMatch(/failed \(exit code 3\)/);
  expect([existsSync(to), unfinished()]).toEqual([false, []]);
  const killed = new OpsProcess({ ...process.env, ...serverSettings() });
  await expect(killed.run(backup('kill -s KILL "$PPID"'))).rejects.toThrow('companion of the tests ended');
  const [left = '', ...others] = unfinished();
  expect([existsSync(to), others]).toEqual([false, []]);
  const restore = [
    'restore',
    '--without-keys',
    '--event-store-command',
    'test -e "$BACKUP_DIR/store/data/data.mdb"',
  ];
  expect((await ops.run([...restore, '--from', left])).stderr).toMatch(/interrupted/);
  const taken = await ops.run([...backup(copyStore()), '--json']);
  expect(JSON.parse(taken.stdout)).toMatchObject({ outcome: 'taken' });
  expect(taken.stderr).toBe(
    `Not finished, and no backups: ${left}. Delete them when no backup is running.\n`,
  );

  const target = { DATABASE_URL: other.applicationUrl, DATABASE_OWNER_URL: other.ownerUrl };
  const onto = (...args: string[]) => ops.run([...restore, '--from', to, '--json', ...args], target);
  expect((await ops.run([...restore, '--from', to])).stderr).toMatch(
    /Stop API and workers first: they have \d+ sessions/,
  );
  expect((await onto()).stderr).toBe('');
  for (const table of [
    'publishing.artifact',
    'platform.subject_key',
    'readings.reading',
    'event_sourcing.consumer',
  ])
    expect([table, await count(other.applicationUrl, table)]).toEqual([
      table,
      await count(stack.databaseUrl, table),
    ]);
  expect((await onto()).stderr).toMatch(/has data .*: add --replace/);
  expect((await onto('--replace')).code).toBe(0);
  const foreign = { ...target, DIGEST_KEY: Buffer.alloc(32, 9).toString('base64') };
  const elsewhere = await ops.run([...restore, '--from', to, '--replace'], foreign);
  expect(elsewhere.stderr).toMatch(/belongs to another installation/);
  expect(await count(other.applicationUrl, 'readings.reading')).toBe(1);

  expect(await ops.json(['backup', 'verify', to])).toMatchObject({
    sound: true,
    notCompared: [expect.stringMatching(/--scratch-event-store/)],
  });
  const scratchStore = ['--scratch-event-store', stack.eventStoreUrl];
  const whole = (await ops.json(['backup', 'verify', to, ...scratchStore])) as { projections: number };
  expect(whole).toMatchObject({ sound: true, notCompared: [] });
  expect(whole.projections).toBeGreaterThanOrEqual(6);
});

/** Keys of readings in the other servers' database. */
const keys = () => count(other.applicationUrl, 'platform.subject_key');
const list = join(scratch, 'erased');

it('servers keep a reading erased that was erased after the backup, also when the restore is repeated', async () => {
  const customer = await Integrator.open(stack, 100);
  const { readingId } = (await customer.create(person())).body;
  await customer.untilEnded(readingId);
  const [before, after] = ['before', 'after'].map((name) => join(scratch, name)) as [string, string];
  const take = (folder: string) =>
    ops.json(['backup', '--to', folder, '--without-keys', '--event-store-command', copyStore()]);
  await take(before);
  expect(await ops.json(['erase', readingId, '--yes'])).toMatchObject({ outcome: 'erased' });
  await until(
    async () => (await count(stack.databaseUrl, 'readings.reading where erased_at is not null')) === 1,
    () => 'the erasure is in the read model',
  );
  await take(after);

  const target = { DATABASE_URL: other.applicationUrl, DATABASE_OWNER_URL: other.ownerUrl };
  const load = async (folder: string, command = 'true') => {
    const from = ['restore', '--from', folder, '--without-keys', '--replace', '--json'];
    const { code, stdout } = await ops.run([...from, '--event-store-command', command], target);
    return code === 0 ? (JSON.parse(stdout) as unknown) : code;
  };
  const erased = [expect.objectContaining({ readingId })];
  const live = await count(stack.databaseUrl, 'platform.subject_key');

  // The list beside the backups knows the erasure.
  expect(await load(before)).toMatchObject({ keptOut: 1, erased, previousLogRead: false });
  expect(await keys()).toBe(live);

  // Without the list, the replaced database knows it, and a broken restore leaves it to the next one.
  expect(await load(after)).toMatchObject({ erased });
  rmSync(list, { recursive: true });
  expect(await load(before, 'exit 3')).toBe(1);
  expect(await load(before)).toMatchObject({ keptOut: 1, erased });
  expect(await keys()).toBe(live);

  // Nothing knows it: the restore says so.
  rmSync(list, { recursive: true });
  expect(await load(before)).toMatchObject({ keptOut: 0, erased: [], previousLogRead: false });
});
