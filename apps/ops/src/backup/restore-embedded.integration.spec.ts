import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathsOf } from './mount-points.js';
import { takeLock } from '../../../embedded/src/lock.js';
import type { Manifest } from './manifest.js';
import { embeddedObstacles, placeOf, restoreEmbedded } from './restore-embedded.js';

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

describe('A restore with --replace', () => {
  let parent: string;
  let dataDir: string;
  beforeEach(() => {
    parent = realpathSync(mkdtempSync(join(tmpdir(), 'restore-')));
    dataDir = join(parent, 'data');
    mkdirSync(dataDir);
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  it.each([['secrets.json'], ['event-store']])('replaces a data folder, which has %s', (...names) => {
    for (const name of names) mkdirSync(join(dataDir, name));
    expect(embeddedObstacles(dataDir, true)).toEqual([]);
    expect(embeddedObstacles(dataDir, false)).toEqual([expect.stringMatching(/has data.*--replace/)]);
  });

  it.each([['package.json'], ['postgres', 'var']])(
    'replaces nothing else, such as a folder with %s',
    (...names) => {
      for (const name of names) mkdirSync(join(dataDir, name));
      for (const replace of [true, false])
        expect(embeddedObstacles(dataDir, replace)).toEqual([
          expect.stringMatching(/data has files.*no data folder/),
        ]);
    },
  );

  it('goes to the folder behind a link, on whose disk the new data belongs', () => {
    const link = join(parent, 'link');
    symlinkSync(dataDir, link);
    writeFileSync(join(dataDir, 'secrets.json'), '{}');
    expect(placeOf(link)).toBe(dataDir);
    expect(embeddedObstacles(link, false)).toEqual([expect.stringContaining(`${dataDir} has data`)]);
    symlinkSync('/dev', join(parent, 'mounted'));
    expect(embeddedObstacles(join(parent, 'mounted'), true)).toEqual([
      expect.stringMatching(/^[/]dev is a mount point/),
    ]);
  });

  it('needs the folder that a link leads to', () => {
    const link = join(parent, 'link');
    symlinkSync(join(parent, 'unmounted'), link);
    expect(embeddedObstacles(link, true)).toEqual([
      expect.stringMatching(/link to a folder that does not exist/),
    ]);
  });

  it('builds alone: another one to the same folder is refused, and leaves the draft', async () => {
    const target = join(parent, 'new');
    const draft = `${target}.restoring`;
    mkdirSync(draft);
    const release = takeLock(`${draft}.lock`, target);
    const second = restoreEmbedded('none', {} as Manifest, { folder: 'none', erased: [] }, target, true);
    await expect(second).rejects.toThrow(`Another restore to ${target} is running`);
    expect(existsSync(draft)).toBe(true);
    release();
  });
});
