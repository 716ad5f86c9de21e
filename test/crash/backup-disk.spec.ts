import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type StartedStack } from '../support/index.js';
import { Integrator } from '../support/integrator.js';
import { fill, removeDisk, smallDisk } from './support/small-disk.js';

const MEBIBYTE = 2 ** 20;

const backupDisk = smallDisk(1);
(backupDisk === null ? describe.skip : describe)('a disk that a backup fills', () => {
  let stack: StartedStack;
  const elsewhere = mkdtempSync(join(tmpdir(), 'key-mirror-'));
  const resize = (kibibytes: number) =>
    execFileSync('mount', ['-o', `remount,size=${kibibytes}k`, backupDisk!], { stdio: 'ignore' });
  beforeAll(async () => {
    stack = await startStack();
    await Integrator.open(stack, 100);
  });
  afterAll(async () => {
    try {
      await stack?.stop();
    } finally {
      removeDisk(backupDisk!);
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it('leaves nothing of a backup wherever it fills, and names it; with room, the same command succeeds', async () => {
    const to = join(backupDisk!, 'backup');
    const failed: string[] = [];
    for (let kibibytes = 16; ; kibibytes *= 2) {
      resize(kibibytes);
      const { code, stderr } = await stack.runOps([
        'backup',
        '--to',
        to,
        '--keys-to',
        join(elsewhere, 'keys'),
      ]);
      if (code === 0) break;
      expect(stderr).toBe(
        `The disk of ${to} is full: the unfinished backup was removed. The service is unharmed.\n`,
      );
      expect(readdirSync(backupDisk!)).toEqual([]);
      failed.push(stderr);
    }
    // At least while it copied tables, and while it copied the log.
    expect(failed.length).toBeGreaterThan(2);
    expect(await stack.ops(['backup', 'verify', to])).toMatchObject({ sound: true });
  });

  it('names the disk of the keys when that one is full', async () => {
    fill(join(backupDisk!, 'rest'), 1_000 * MEBIBYTE);
    const [to, keys] = [join(elsewhere, 'backup'), join(backupDisk!, 'keys')];
    const { code, stderr } = await stack.runOps(['backup', '--to', to, '--keys-to', keys]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(`^The disk of ${keys} is full`)]);
    expect(readdirSync(elsewhere)).toEqual(['keys']);
  });
});
