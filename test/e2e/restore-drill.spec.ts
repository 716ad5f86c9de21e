import { afterAll, beforeAll, expect, it } from '@jest/globals';
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
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { addedToAppend } from '#event-sourcing/testing/tally.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/index.js';
import { twoOperators } from '../support/operators.js';
import { OpsProcess } from '../support/ops-process.js';

const dataDir = temporaryDataDir();
const restoredDir = temporaryDataDir();
const scratch = mkdtempSync(join(tmpdir(), 'restore-drill-'));
const [first, second, keys] = ['first', 'second', 'keys'].map((name) => join(scratch, name)) as [
  string,
  string,
  string,
];
/** Works on the folder that is restored, with or without a running stack. */
const ops = new OpsProcess({ ...process.env, DATA_DIR: restoredDir });
const restore = ['restore', '--from', first, '--keys', keys];
let stack: StartedStack;

beforeAll(async () => {
  stack = await startStack({ dataDir });
});

afterAll(async () => {
  ops.stop();
  await stack?.stop();
  for (const folder of [dataDir, restoredDir]) removeDataFolder(folder);
  rmSync(scratch, { recursive: true, force: true });
});

const finished = async (customer: Integrator): Promise<string> => {
  const { status, body } = await customer.create(person());
  expect({ status, body }).toMatchObject({ status: 202 });
  const { readingId } = body;
  await customer.untilEnded(readingId);
  return readingId;
};

const inDatabase = async (sql: string, values: readonly unknown[]): Promise<void> => {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  await client.query(sql, [...values]);
  await client.end();
};

const flip = (path: string, offset: number): void => {
  const bytes = readFileSync(path);
  bytes[offset]! ^= 1;
  writeFileSync(path, bytes);
};

/** Changes a bit of each occurrence, in place. */
const flipEach = (path: string, text: string): void => {
  const bytes = readFileSync(path);
  const file = openSync(path, 'r+');
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1))
    writeSync(file, Buffer.of(bytes[at]! ^ 1), 0, 1, at);
  closeSync(file);
};

/** docs/operations.md, "Backup and restore". */
it('A restored service has what the backup has, keeps erased persons erased, and refunds what was lost', async () => {
  let customer = await Integrator.open(stack, 400);
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
  // As if the volume of the keys were not mounted: the mirror keeps the last copy.
  const [keyDirectory, away, third] = [join(dataDir, 'keys'), join(dataDir, 'away'), join(scratch, 'third')];
  renameSync(keyDirectory, away);
  expect((await stack.runOps(to(third))).stderr).toMatch(/The key of epoch \w+ is not in KEY_DIRECTORY/);
  renameSync(away, keyDirectory);
  expect(readdirSync(join(keys, 'keys'))).toEqual(readdirSync(keyDirectory));

  // Only the log of the old data knows this one.
  expect(await stack.ops(['erase', erasedLast, '--yes'])).toMatchObject({ outcome: 'erased' });
  expect(await stack.ops(['backup', '--to', third, '--without-keys'])).toMatchObject({ outcome: 'taken' });
  const inNeither = await finished(customer);
  expect((await stack.runOps(to(first))).stderr).toMatch(/is not empty/);

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

  const sound = (await ops.json(['backup', 'verify', first])) as { projections: number };
  expect(sound).toMatchObject({ sound: true, findings: [] });
  // Those that have handled an event. The others count once they have a checkpoint, which takes its time.
  expect(sound.projections).toBeGreaterThanOrEqual(6);
  const damaged = join(scratch, 'damaged');
  cpSync(first, damaged, { recursive: true });
  flip(join(damaged, 'event-store', 'data', 'data.mdb'), 9_000);
  const refused = await ops.run(['backup', 'verify', damaged]);
  expect([refused.code, refused.stdout]).toEqual([
    1,
    expect.stringMatching(/data\.mdb does not match its checksum/),
  ]);

  // Refusals change nothing.
  const onto = (folder: string) => ops.run(restore, { DATA_DIR: folder });
  expect((await onto(dataDir)).stderr).toMatch(/has data: choose another DATA_DIR, or add --replace/);
  expect((await ops.run([...restore, '--replace'], { DATA_DIR: dataDir })).stderr).toMatch(/Already running/);
  expect((await ops.run(['restore', '--from', scratch, '--keys', keys])).stderr).toMatch(/no manifest\.json/);
  expect(await ops.json([...restore, '--dry-run'])).toMatchObject({
    outcome: 'not_restored',
    targets: [restoredDir],
    inTheWay: [],
  });
  const planned = await ops.run([...restore, '--dry-run'], { DATA_DIR: dataDir });
  expect([planned.code, planned.stderr]).toEqual([1, '']);
  expect(planned.stdout).toMatch(
    /^Would restore the backup of .*In the way:.*add --replace.*Already running/s,
  );
  expect(readdirSync(restoredDir)).toEqual([]);

  // The live file is damaged: one finding names it and the way out.
  flipEach(join(dataDir, 'event-store', 'data', 'data.mdb'), 'ReadingCompleted');
  const doctor = await stack.runOps(['doctor', '--json']);
  const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; level: string }[] };
  expect(findings.filter(({ level }) => level === 'failure')).toMatchObject([
    {
      check: expect.stringMatching(/^event store file/),
      cause: 'damaged',
      message: expect.stringMatching(/event-store is damaged: The record at position \d+/),
      advice: expect.stringContaining('Restore a backup'),
    },
  ]);

  await stack.killAll();
  cpSync(join(third, 'event-store'), join(restoredDir, 'event-store'), { recursive: true });
  const restored = (await ops.json([...restore, '--replace'])) as { aside: string; erased: object[] };
  expect(restored).toMatchObject({ outcome: 'restored', keptOut: 2, previousLogRead: true });
  expect(restored.erased).toMatchObject([erasedLater, erasedLast].map((readingId) => ({ readingId })));
  removeDataFolder(restored.aside);
  expect(existsSync(`${restoredDir}.restoring`)).toBe(false);

  // As npm start does.
  stack = await startStack({ dataDir: restoredDir, env: { EMBEDDED_SKIP_DEMO_WORKSPACE: '0' } });
  customer = customer.at(stack);
  const afterwards = await finished(customer);
  for (const readingId of [kept, afterwards]) {
    expect(await customer.reading(readingId)).toMatchObject({
      status: 'completed',
      input: { dateOfBirth: person().dateOfBirth },
    });
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
  await until(
    async () => ((await stack.ops(again)) as { erasures: string[] }).erasures.length === 0,
    () => 'nothing is left to erase again',
  );

  // As if its key had been made after PostgreSQL's snapshot.
  await inDatabase('delete from platform.subject_key where subject_id = $1', [lost]);
  await inDatabase(`delete from publishing.artifact where reading_id = $1 and format = 'pdf'`, [kept]);
  const found = await stack.runOps(['readings', 'unreadable', '--json']);
  const { readings } = JSON.parse(found.stdout) as { readings: { readingId: string; cause: string }[] };
  expect(found.code).toBe(1);
  expect(readings.map(({ readingId, cause }) => [readingId, cause])).toEqual([
    [kept, 'document'],
    [lost, 'key'],
  ]);
  const refund = ['readings', 'refund', '--all', '--reason', 'INC-42'];
  const before = await customer.balance();
  expect(await stack.ops(refund)).toMatchObject({ credits: 40 });
  expect(await customer.balance()).toEqual(before);
  const { ada, correct } = twoOperators(stack);
  expect(await correct([...refund, '--yes'])).toMatchObject({ outcome: 'booked', refusals: [] });
  expect(await ada.ops([...refund, '--yes'])).toMatchObject({ credits: 0, proposal: null });
  expect(await customer.balance()).toMatchObject({ available: before.available + 40 });
  expect((await stack.runOps(['readings', 'refund', afterwards, '--reason', 'no'])).stderr).toMatch(
    /can be read, was erased, or was never paid/,
  );
  expect(await stack.ops(['readings', 'unreadable'])).toMatchObject({
    readings: [{ refunded: true }, { refunded: true }],
  });
  expect(await ada.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true, corrections: [] });
  // No demo workspace beside restored data.
  expect(await stack.ops(['workspace', 'list'])).toMatchObject({ workspaces: [{}] });
  expect(await stack.ops(['projections', 'lag', '--max-seconds', '30'])).toBeDefined();
});

/** docs/runbook.md, "PostgreSQL is newer than the event store". */
it('An event store older than PostgreSQL takes no new work, however far its log grows, until all is replayed', async () => {
  let customer = await Integrator.open(stack, 400);
  const kept = await finished(customer);
  await untilHandled(stack);
  await stack.killAll();
  const { dataDir: at } = stack;
  const [folder, older] = [join(at, 'event-store', 'data'), join(scratch, 'older')];
  cpSync(folder, older, { recursive: true });
  stack = await startStack({ dataDir: at });
  const lost = await finished(customer.at(stack));
  await untilHandled(stack);
  await stack.killAll();
  rmSync(folder, { recursive: true });
  cpSync(older, folder, { recursive: true });

  stack = await startStack({ dataDir: at });
  customer = customer.at(stack);
  const refused = { status: 503, body: { code: 'enqueue_unavailable' } };
  expect(await customer.create(person())).toMatchObject(refused);
  const store = await openEventStore({
    connectionString: stack.eventStoreUrl,
    appendTimeoutMs: 60_000,
    readTimeoutMs: 60_000,
  });
  const events = Array.from({ length: 100 }, (_, index) => addedToAppend(randomUUID(), `r${index}`));
  await store.append('tally-1', 'no_stream', events);
  await store.close();
  expect(await customer.create(person())).toMatchObject(refused);
  expect(await (await fetch(`${stack.baseUrl}/readyz`)).json()).toMatchObject({
    causes: { consumers: 'beyond_the_log' },
  });
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
  let ordered = await customer.create(person());
  await until(
    async () => (ordered = await customer.create(person())).status === 202,
    () => JSON.stringify(ordered.body),
  );
  for (const readingId of [kept, ordered.body.readingId]) {
    expect(await customer.untilEnded(readingId)).toMatchObject({ status: 'completed' });
  }
  expect((await customer.call('GET', `/api/v1/readings/${lost}`)).status).toBe(404);
  await until(
    async () => (await fetch(`${stack.baseUrl}/readyz`)).status === 200,
    () => 'ready',
  );
});
