import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectPath } from '@app/platform/project-path.js';
import { removeDataFolder, temporaryDataDir } from '../support/data-dir.js';
import { Integrator, person } from '../support/integrator.js';
import { startStack, type StartedStack } from '../support/index.js';

const run = promisify(execFile);
const dataDir = temporaryDataDir();
const restoredDir = temporaryDataDir();
let stack: StartedStack;

beforeAll(async () => {
  stack = await startStack({ dataDir });
});

afterAll(async () => {
  await stack?.stop();
  removeDataFolder(dataDir);
  removeDataFolder(restoredDir);
});

const finished = async (customer: Integrator): Promise<string> => {
  const { readingId } = (await customer.create(person())).body;
  await customer.untilEnded(readingId);
  return readingId;
};

/** Copies the database's files, ownership included. Its server must be stopped. */
const copyDatabase = async (from: string, to: string): Promise<void> => {
  mkdirSync(to, { recursive: true, mode: 0o711 });
  const source = join(from, 'postgres');
  const real = existsSync(source) && lstatSync(source).isSymbolicLink() ? realpathSync(source) : source;
  await run('cp', ['-a', real, join(to, 'postgres')]);
};

/** docs/operations.md, "Backup and restore": the database first, then the event store; the secrets separately. */
it('A restored service has everything that both backups hold, leaves no work undone, and accepts readings', async () => {
  let customer = await Integrator.open(stack, 400);
  const inBoth = await finished(customer);
  await stack.stop();
  await copyDatabase(dataDir, restoredDir);

  stack = await startStack({ dataDir });
  customer = customer.at(stack);
  const inEventsOnly = await finished(customer);
  const store = [projectPath('dist/libs/embedded-event-store/src/main.js'), 'backup'];
  await run(process.execPath, [
    ...store,
    '--data',
    join(dataDir, 'event-store'),
    '--to',
    join(restoredDir, 'event-store'),
  ]);
  const inNeither = await finished(customer);
  await stack.killAll();
  // The keys have only their current state, no backup: docs/operations.md, "Who keeps the keys".
  for (const kept of ['secrets.json', 'keys'])
    await run('cp', ['-a', join(dataDir, kept), join(restoredDir, kept)]);

  stack = await startStack({ dataDir: restoredDir });
  customer = customer.at(stack);
  const afterwards = await finished(customer);

  for (const readingId of [inBoth, afterwards]) {
    expect(await customer.reading(readingId)).toMatchObject({
      status: 'completed',
      input: { dateOfBirth: person().dateOfBirth },
    });
    expect((await customer.call('GET', `/api/v1/readings/${readingId}/result`)).status).toBe(200);
    const document = `/api/v1/readings/${readingId}/document?format=markdown`;
    expect((await customer.call('GET', document)).status).toBe(200);
  }
  // Its key was made after the database's backup: the facts remain, the personal data is lost.
  await customer.untilEnded(inEventsOnly, 60_000).catch(() => undefined);
  expect(await customer.reading(inEventsOnly)).toMatchObject({ status: 'completed', input: null });
  const lost = await customer.call('GET', `/api/v1/readings/${inEventsOnly}/result`);
  expect([lost.status, lost.body['code']]).toEqual([410, 'reading_erased']);
  expect((await customer.call('GET', `/api/v1/readings/${inNeither}`)).status).toBe(404);

  expect(await customer.balance()).toMatchObject({ available: 340, held: 0, consumed: 60 });
  expect(await stack.ops(['ledger', 'verify', '--all'])).toMatchObject({ ok: true });
  expect(await stack.ops(['projections', 'lag', '--max-seconds', '30'])).toBeDefined();
});
