import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathsOf } from './mount-points.js';
import { embeddedObstacles } from './restore-embedded.js';

it('A mount point cannot be restored to: it cannot be renamed at the end', () => {
  expect(embeddedObstacles('/dev', true)).toEqual([
    expect.stringMatching(/^\/dev is a mount point.*DATA_DIR to a folder inside it/),
  ]);
});

it('A bind mount of the same file system is a mount point, too', () => {
  const parent = mkdtempSync(join(tmpdir(), 'restore bind-'));
  const [source, target] = [join(parent, 'source'), join(parent, 'a target')];
  for (const folder of [source, target]) mkdirSync(folder);
  try {
    execFileSync('mount', ['--bind', source, target], { stdio: 'ignore' });
  } catch {
    // Mounting needs rights that not every user has; the list of mounts is read below everywhere.
    rmSync(parent, { recursive: true });
    return;
  }
  try {
    expect(embeddedObstacles(target, true)).toEqual([expect.stringMatching(/a target is a mount point/)]);
    expect(embeddedObstacles(source, true)).toEqual([]);
  } finally {
    execFileSync('umount', [target]);
    rmSync(parent, { recursive: true });
  }
});

it('The list of mounts has octal escapes', () => {
  const line = String.raw`36 35 98:0 /mnt1 /mnt/my\040data\134x rw,noatime master:1 - ext3 /dev/root rw`;
  expect(pathsOf(`${line}\n`)).toEqual([String.raw`/mnt/my data\x`]);
});

it('A restore needs a folder to build in, which may be new', () => {
  const parent = mkdtempSync(join(tmpdir(), 'restore-'));
  try {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    expect(embeddedObstacles(join(parent, 'missing', 'data'), false)).toEqual([]);
    expect(embeddedObstacles(join(file, 'data'), false)).toEqual([
      expect.stringMatching(/file is no folder that can be written/),
    ]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
