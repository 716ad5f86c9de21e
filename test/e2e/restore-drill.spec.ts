import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { addedToAppend } from '#event-sourcing/testing/tally.js';
import { projectPath } from '#platform/project-path.js';
import {
  fixture,
  removeDataFolder,
  startStack,
  temporaryDataDir,
  type StartedStack,
} from '../support/index.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';
import { twoOperators } from '../support/operators.js';
import { OpsProcess } from '../support/ops-process.js';
import { startPostgres } from '../support/start-postgres.js';

const dataDir = temporaryDataDir();
const restoredDir = temporaryDataDir();
const scratch = mkdtempSync(join(tmpdir(), 'restore-drill-'));
const inScratch = (name: string): string => join(scratch, name);
/** The stack of the present part: on the old data, and then on what was restored. */
let stack: StartedStack;
// Stops before the stack does.
const other = fixture(startPostgres);
fixture(
  async () => {
    stack = await startStack({ dataDir });
    return stack;
  },
  async () => {
    await stack.stop();
    for (const folder of [dataDir, restoredDir]) removeDataFolder(folder);
    rmSync(scratch, { recursive: true, force: true });
  },
);

const opened = async (): Promise<Integrator> => Integrator.open(stack, 400);
const finished = async (customer: Integrator): Promise<string> => {
  const readingId = await customer.published();
  expect(await customer.reading(readingId)).toMatchObject({ status: 'completed' });
  return readingId;
};
const isErased = async (readingId: string) =>
  (
    await stack.query('select from readings.reading where reading_id = $1 and erased_at is not null', [
      readingId,
    ])
  ).length === 1;

/** Works on the stack's stores as on servers that only their addresses name. */
const serverSettings = (): NodeJS.ProcessEnv => {
  const text = readFileSync(join(stack.dataDir, 'runtime.json'), 'utf8');
  const { pids: _, ...settings } = JSON.parse(text) as Record<string, string>;
  return { ...process.env, ...settings };
};
const servers = fixture(async () => new OpsProcess(serverSettings()));
/** What the operator of a server has: a program that copies its store. */
const COPY = [
  `import { backUpFolder } from '${projectPath('dist/libs/embedded-event-store/src/operator/backup.js')}';`,
  'await backUpFolder(...process.argv.slice(1));',
].join(' ');
const COPYING = ['--input-type=module', '--eval', COPY];
const copyStore = () =>
  `node --input-type=module --eval "${COPY}" ${stack.dataDir}/event-store "$BACKUP_DIR/store"`;
const backupBy = (folder: string, command: string) => [
  ...['backup', '--to', folder, '--without-keys', '--event-store-command', command],
];
const ontoOther = () => ({ DATABASE_URL: other.applicationUrl, DATABASE_OWNER_URL: other.ownerUrl });
const count = async (url: string, table: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(`select count(*) from ${table}`);
  await client.end();
  return Number(rows[0]!.count);
};

it('Servers are backed up by the operator’s own command, and restored into empty ones', async () => {
  await finished(await opened());
  await untilHandled(stack);
  const to = inScratch('servers');
  /** What a run that was killed leaves. */
  const unfinished = () => readdirSync(scratch).filter((name) => name.includes('.unfinished'));
  const said = async (args: readonly string[], settings = {}) => (await servers.run(args, settings)).stderr;

  expect(await said(['backup', '--to', to, '--without-keys'])).toMatch(/--event-store-data or/);
  // A failure and a kill leave nothing that could be taken for a backup.
  expect(await said(backupBy(to, 'exit 3'))).toMatch(/failed \(exit code 3\)/);
  expect([existsSync(to), unfinished()]).toEqual([false, []]);
  const killed = new OpsProcess(serverSettings()).run(backupBy(to, 'kill -s KILL "$PPID"'));
  await expect(killed).rejects.toThrow('companion of the tests ended');
  const [left = '', ...others] = unfinished().map(inScratch);
  expect([existsSync(to), others]).toEqual([false, []]);
  const check = 'test -e "$BACKUP_DIR/store/data/data.mdb"';
  const restore = ['restore', '--without-keys', '--event-store-command', check, '--from'];
  expect(await said([...restore, left])).toMatch(/interrupted/);
  const taken = await servers.run([...backupBy(to, copyStore()), '--json']);
  expect(JSON.parse(taken.stdout)).toMatchObject({ outcome: 'taken' });
  rmSync(left, { recursive: true });

  const onto = () => servers.run([...restore, to, '--json'], ontoOther());
  expect(await said([...restore, to])).toMatch(/Stop API and workers first: they have \d+ sessions/);
  expect((await onto()).stderr).toBe('');
  for (const table of ['publishing.artifact', 'platform.subject_key', 'readings.reading']) {
    const here = await count(stack.databaseUrl, table);
    expect([table, here > 0, await count(other.applicationUrl, table)]).toEqual([table, true, here]);
  }
  expect((await onto()).stderr).toMatch(/has data .*: add --replace/);
  const foreign = { ...ontoOther(), DIGEST_KEY: Buffer.alloc(32, 9).toString('base64') };
  expect(await said([...restore, to, '--replace'], foreign)).toMatch(/belongs to another installation/);
  expect(await count(other.applicationUrl, 'readings.reading')).toBe(1);

  const compared = ['backup', 'verify', to, '--scratch-event-store', stack.eventStoreUrl];
  expect(await servers.json(compared)).toMatchObject({ sound: true, notCompared: [] });
});

it('Servers keep a reading erased that was erased after the backup, also when the restore is repeated', async () => {
  const readingId = await finished(await opened());
  const [before, after, list] = ['before', 'after', 'erased'].map(inScratch) as [string, string, string];
  await servers.json(backupBy(before, copyStore()));
  expect(await servers.json(['erase', readingId, '--yes'])).toMatchObject({ outcome: 'erased' });
  await until(() => isErased(readingId), 'the erasure is in the read model');
  await servers.json(backupBy(after, copyStore()));

  const load = async (folder: string, command = 'true') => {
    const from = ['restore', '--from', folder, '--without-keys', '--replace', '--json'];
    const { code, stdout } = await servers.run([...from, '--event-store-command', command], ontoOther());
    return code === 0 ? (JSON.parse(stdout) as unknown) : code;
  };
  const erased = [expect.objectContaining({ readingId })];
  const keys = () => count(other.applicationUrl, 'platform.subject_key');
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

/** Changes a bit of the file in place. */
const flip = (path: string, placeIn: (bytes: Buffer) => number): void => {
  const bytes = readFileSync(path);
  const at = placeIn(bytes);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.of(bytes[at]! ^ 1), 0, 1, at);
  closeSync(file);
};
const DATA = ['event-store', 'data', 'data.mdb'];

/** docs/operations.md, "Backup and restore". */
it('A restored service has what the backup has, keeps erased persons erased, and refunds what was lost', async () => {
  const [first, second, third, keys] = ['first', 'second', 'third', 'keys'].map(inScratch) as [
    string,
    string,
    string,
    string,
  ];
  /** Works on the folder that is restored, with or without a running stack. */
  const ops = new OpsProcess({ ...process.env, DATA_DIR: restoredDir });
  const restore = ['restore', '--from', first, '--keys', keys];
  let customer = await opened();
  const kept = await finished(customer);
  const erasedLater = await finished(customer);
  const erasedLast = await finished(customer);
  const lost = await finished(customer);
  const linked = await customer.call<{ url: string }>('POST', `/api/v1/readings/${kept}/document/links`, {
    body: { format: 'pdf', expiresInSeconds: 86_400 },
  });
  const to = (folder: string) => ['backup', '--to', folder, '--keys-to', keys];

  // While the service runs, and twice: the mirror of keys follows, and learns of the erasure.
  expect(await stack.ops(to(first))).toMatchObject({ outcome: 'taken' });
  expect(await stack.ops(['erase', erasedLater, '--yes'])).toMatchObject({ outcome: 'erased' });
  expect(await stack.ops(to(second))).toMatchObject({ outcome: 'taken' });
  // Only the log of the old data knows this one.
  expect(await stack.ops(['erase', erasedLast, '--yes'])).toMatchObject({ outcome: 'erased' });
  expect(await stack.ops(['backup', '--to', third, '--without-keys'])).toMatchObject({ outcome: 'taken' });
  const inNeither = await finished(customer);

  // Keys apart, for their owner only; nothing of a person in the backup.
  expect(readdirSync(first).toSorted()).toEqual(['event-store', 'manifest.json', 'postgres']);
  for (const name of ['secrets.json', 'mirror.json'])
    expect(statSync(join(keys, name)).mode & 0o777).toBe(0o600);
  const { stdout: hits } = await promisify(execFile)('sh', [
    '-c',
    'for f in "$1"/postgres/*.gz; do gzip -dc "$f"; done | cat - "$1"/event-store/data/data.mdb | grep -ac "$2" || true',
    'sh',
    first,
    person().dateOfBirth,
  ]);
  expect(hits.trim()).toBe('0');

  expect(await ops.json(['backup', 'verify', first])).toMatchObject({ sound: true, findings: [] });
  const damaged = inScratch('damaged');
  cpSync(first, damaged, { recursive: true });
  flip(join(damaged, ...DATA), () => 9_000);
  const unsound = await ops.run(['backup', 'verify', damaged]);
  expect([unsound.code, unsound.stdout]).toEqual([
    1,
    expect.stringMatching(/data\.mdb does not match its checksum/),
  ]);

  // Refusals change nothing.
  const onOld = { DATA_DIR: dataDir };
  for (const [args, settings, said] of [
    [restore, onOld, /has data: choose another DATA_DIR, or add --replace.*\nAlready running/],
    [[...restore, '--replace'], onOld, /Already running/],
  ] as const)
    expect((await ops.run(args, settings)).stderr).toMatch(said);
  expect(readdirSync(restoredDir)).toEqual([]);

  // The live file is damaged.
  flip(join(dataDir, ...DATA), (bytes) => bytes.indexOf('ReadingCompleted'));
  await stack.killAll();
  cpSync(join(third, 'event-store'), join(restoredDir, 'event-store'), { recursive: true });
  const restored = (await ops.json([...restore, '--replace'])) as {
    aside: string;
    erased: { readingId: string; workspaceId: string }[];
  };
  expect(restored).toMatchObject({ outcome: 'restored', keptOut: 2, previousLogRead: true });
  const own = restored.erased.filter(({ workspaceId }) => workspaceId === customer.workspaceId);
  expect(own).toMatchObject([erasedLater, erasedLast].map((readingId) => ({ readingId })));
  removeDataFolder(restored.aside);
  expect(existsSync(`${restoredDir}.restoring`)).toBe(false);
  ops.stop();

  stack = await startStack({ dataDir: restoredDir });
  customer = customer.at(stack);
  const afterwards = await finished(customer);
  for (const readingId of [kept, afterwards]) {
    const input = { dateOfBirth: person().dateOfBirth };
    expect(await customer.reading(readingId)).toMatchObject({ status: 'completed', input });
    const document = `/api/v1/readings/${readingId}/document?format=markdown`;
    expect((await customer.call('GET', document)).status).toBe(200);
  }
  expect((await customer.call('GET', `/api/v1/readings/${inNeither}`)).status).toBe(404);
  // Nobody knows which links were revoked after the backup.
  expect((await customer.call('GET', new URL(linked.body.url).pathname)).status).toBe(410);

  // The log of the backup lacks the erasure; the person stays sealed, and the log gets it again.
  for (const readingId of [erasedLater, erasedLast])
    expect((await customer.call('GET', `/api/v1/readings/${readingId}/result`)).status).toBe(410);
  const again = ['readings', 'erase-again', '--keys', keys, '--yes'];
  const erasures = [erasedLater, erasedLast].toSorted();
  expect(await stack.ops(again)).toEqual({ erasures, outcome: 'erased' });
  // The read model follows; until then, a repetition changes nothing.
  const left = async () => ((await stack.ops(again)) as { erasures: string[] }).erasures.length;
  await until(async () => (await left()) === 0, 'nothing is left to erase again');

  // As if its key had been made after PostgreSQL's snapshot.
  await stack.query('delete from platform.subject_key where subject_id = $1', [lost]);
  await stack.query(`delete from publishing.artifact where reading_id = $1 and format = 'pdf'`, [kept]);
  expect(await stack.report(['readings', 'unreadable'])).toMatchObject({
    code: 1,
    readings: [
      { readingId: kept, cause: 'document' },
      { readingId: lost, cause: 'key' },
    ],
  });
  const refund = ['readings', 'refund', '--all', '--reason', 'INC-42'];
  const balance = await customer.balance();
  expect(await stack.ops(refund)).toMatchObject({ credits: 40 });
  expect(await customer.balance()).toEqual(balance);
  const { ada, correct } = twoOperators(stack);
  expect(await correct([...refund, '--yes'])).toMatchObject({ outcome: 'booked', refusals: [] });
  expect(await customer.balance()).toMatchObject({ available: balance.available + 40 });
  expect(await stack.ops(['readings', 'unreadable'])).toMatchObject({
    readings: [{ refunded: true }, { refunded: true }],
  });
  expect(await ada.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true, corrections: [] });
});

/** docs/runbook.md, "PostgreSQL is newer than the event store". */
it('An event store older than PostgreSQL takes no new work, however far its log grows, until all is replayed', async () => {
  let customer = await opened();
  const kept = await finished(customer);
  await untilHandled(stack);
  const { dataDir: at } = stack;
  const [folder, older] = [join(at, 'event-store', 'data'), inScratch('older')];
  await promisify(execFile)(process.execPath, [...COPYING, join(at, 'event-store'), older]);
  const lost = await finished(customer);
  await untilHandled(stack);
  await stack.killAll();
  rmSync(folder, { recursive: true });
  cpSync(join(older, 'data'), folder, { recursive: true });

  stack = await startStack({ dataDir: at });
  customer = customer.at(stack);
  const refused = { status: 503, body: { code: 'enqueue_unavailable' } };
  expect(await customer.create()).toMatchObject(refused);
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 60_000,
    readTimeoutMs: 60_000,
  });
  const events = Array.from({ length: 100 }, (_, index) => addedToAppend(randomUUID(), `r${index}`));
  await store.append('tally-1', 'no_stream', events);
  await store.close();
  expect(await customer.create()).toMatchObject(refused);
  const cause = async () => (await stack.ready()).body.causes['consumers'];
  await until(async () => (await cause()) === 'beyond_the_log', 'readiness names the cause');
  const { code, ...found } = await stack.report(['projections', 'lag', '--max-seconds', '3600']);
  const beyond = expect.arrayContaining([expect.objectContaining({ status: 'beyond_the_log' })]);
  expect([code, Object.values(found).flat()]).toEqual([1, beyond]);
  const mend = ['projections', 'replay', '--all', '--accept-differences'];
  expect((await stack.runOps(['doctor'])).stdout).toContain(`ops ${mend.join(' ')}`);
  // The whole log is younger than the minute that consumers go back: each first handles an event again.
  let said = '';
  await until(
    async () => {
      const { code, stderr } = await stack.runOps([...mend, 'the event store was restored from a copy']);
      said = stderr;
      return code === 0;
    },
    () => said,
  );

  // The row of the caller's key comes back while the log is replayed: until then the answer is 401.
  let ordered = await customer.create();
  await until(
    async () => (ordered = await customer.create()).status === 202,
    () => JSON.stringify(ordered.body),
  );
  for (const readingId of [kept, ordered.body.readingId])
    expect(await customer.untilEnded(readingId)).toMatchObject({ status: 'completed' });
  expect((await customer.call('GET', `/api/v1/readings/${lost}`)).status).toBe(404);
  await until(async () => (await stack.ready()).status === 200, 'ready');
});
