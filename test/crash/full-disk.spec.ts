import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freeBytes } from '#platform/disk/disk-reserve.js';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { fill, removeDisk, smallDisk } from './support/small-disk.js';

const MEBIBYTE = 1024 * 1024;

// Mounting needs rights that not every user has. Without them the reserve is more than any disk has.
const folder = smallDisk(400);
const backupDisk = smallDisk(1);
const RESERVE_MIB = folder === null ? 1_000_000_000 : 100;

let stack: StartedStack;
let customer: Integrator;
const start = () => {
  const env = { DISK_RESERVE_MIB: String(RESERVE_MIB) };
  return startStack(folder === null ? { env } : { dataDir: join(folder, 'data'), env });
};

beforeAll(async () => {
  stack = await start();
  customer = await Integrator.open(stack, 100_000);
});
afterAll(async () => {
  try {
    await stack?.stop();
  } finally {
    for (const disk of [folder, backupDisk]) if (disk !== null) removeDisk(disk);
  }
});

const accepts = () =>
  until(
    async () => (await customer.create(person())).status === 202,
    () => `new work is accepted\n${stack.output()}`,
  );

it('Below the reserve new work gets 503 with the reason, reads and deletions continue, and /readyz names the disk', async () => {
  const low = folder === null ? null : join(folder, 'below-the-reserve');
  if (folder !== null) {
    await accepts();
    fill(low!, freeBytes(folder) - (RESERVE_MIB - 10) * MEBIBYTE);
  }
  let refused = await customer.create(person());
  while (refused.status === 202) refused = await customer.create(person());
  expect([refused.status, refused.body, refused.headers.get('retry-after')]).toMatchObject([
    503,
    { code: 'enqueue_unavailable', detail: expect.stringContaining('short of disk space') },
    '60',
  ]);
  expect((await customer.call('GET', '/api/v1/readings')).status).toBe(200);
  const missing = '/api/v1/webhooks/6f1c2c3e-0000-4000-8000-000000000000';
  expect((await customer.call('DELETE', missing)).status).toBe(404);
  expect(await stack.ready()).toMatchObject({
    body: { status: 'not ready', checks: { disk: false, postgres: true } },
  });
  if (low === null) return;
  rmSync(low);
  await accepts();
});

const isOtherStore = process.env['TEST_EVENT_STORE_COMMAND'] !== undefined;
// Backups copy the files of the embedded store.
(backupDisk === null || isOtherStore ? describe.skip : describe)('a disk that a backup fills', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'key-mirror-'));
  afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

  it('has nothing of a backup wherever it fills, and is named; with room, the same command succeeds', async () => {
    const to = join(backupDisk!, 'backup');
    let failures = 0;
    for (let kibibytes = 16; ; kibibytes *= 2) {
      const size = ['-o', `remount,size=${kibibytes}k`];
      execFileSync('mount', [...size, backupDisk!], { stdio: 'ignore' });
      const command = ['backup', '--to', to, '--keys-to', join(elsewhere, 'keys')];
      const { code, stderr } = await stack.runOps(command);
      if (code === 0) break;
      expect(stderr).toBe(
        `The disk of ${to} is full: the unfinished backup was removed. The service is unharmed.\n`,
      );
      expect(readdirSync(backupDisk!)).toEqual([]);
      failures += 1;
    }
    // At least while it copied tables, and while it copied the log.
    expect(failures).toBeGreaterThan(2);
    expect(await stack.ops(['backup', 'verify', to])).toMatchObject({ sound: true });
  });

  it('is named, too, when it is that of the keys', async () => {
    fill(join(backupDisk!, 'rest'), 1_000 * MEBIBYTE);
    const [to, keys] = [join(elsewhere, 'backup'), join(backupDisk!, 'keys')];
    const { code, stderr } = await stack.runOps(['backup', '--to', to, '--keys-to', keys]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(`^The disk of ${keys} is full`)]);
    expect(readdirSync(elsewhere)).toEqual(['keys']);
  });
});

(folder === null ? describe.skip : describe)('a disk without any room', () => {
  const file = join(folder ?? '', 'full');

  it('keeps a database that died from starting, which follows when there is room, however long that takes', async () => {
    const { postgres, main } = stack.pids();
    fill(file, freeBytes(folder!));
    process.kill(postgres, 'SIGKILL');
    // Long enough for the six deaths that would end the stack. Someone else takes all the room that it makes.
    for (let round = 0; round < 50; round++) {
      fill(file, freeBytes(folder!));
      await delay(100);
    }
    expect(stack.pids().main).toBe(main);
    expect((await fetch(`${stack.baseUrl}/healthz`)).status).toBe(200);
    expect((await stack.ready()).body.checks).toMatchObject({ postgres: false, disk: false });
    rmSync(file);
    await accepts();
    expect(stack.pids().main).toBe(main);
  });

  it('refuses a start with one line, and the stack works once there is room', async () => {
    await stack.stop();
    while (freeBytes(folder!) > 0) fill(file, freeBytes(folder!));
    await expect(start()).rejects.toThrow(
      /did not start:\nThe disk of .*data is full, and nothing was started\. Free some space, 24 MiB at least\.$/m,
    );
    rmSync(file);
    stack = await start();
    customer = customer.at(stack);
    await accepts();
  });
});
