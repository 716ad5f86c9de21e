import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyNode, type NodeFolders, restoreNode } from './log.js';
import type { Manifest } from './manifest.js';
import { mirrorKeys, readMirror } from './mirror.js';
import { embeddedObstacles, placeOf, restoreEmbedded } from './restore.js';
import { takeLock } from '../../../embedded/src/data-folder.js';

const position = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
};

/** A data folder as EventStoreDB 24.10 lays it out. */
describe('the files of an EventStoreDB node', () => {
  let root: string;
  let node: NodeFolders;
  let backup: string;

  const put = (path: string, content: string | Buffer): void => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'node-files-'));
    node = { db: join(root, 'db'), index: join(root, 'db', 'index') };
    backup = join(root, 'backup');
    for (const name of ['chaser', 'epoch', 'proposal', 'truncate', 'writer'])
      put(join(node.db, `${name}.chk`), position(name === 'truncate' ? -1n : 500n));
    for (const name of ['chunk-000000.000000', 'chunk-000000.000001', 'chunk-000001.000000'])
      put(join(node.db, name), name);
    put(join(node.db, 'chunk-000002.000000.tmp'), 'half a chunk');
    put(join(node.index, 'indexmap'), 'map');
    put(join(node.index, '5f2c'), 'table');
    put(join(node.index, 'stream-existence', 'streamExistenceFilter.chk'), position(400n));
    put(join(node.index, 'stream-existence', 'streamExistenceFilter.dat'), 'filter');
  });

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('are copied in the order of its manual, with the newest version of each chunk', async () => {
    const files = await copyNode(node, backup, 499n, () => undefined);
    expect(files.map(({ path }) => path)).toEqual([
      'event-store/index/stream-existence/streamExistenceFilter.chk',
      'event-store/index/5f2c',
      'event-store/index/indexmap',
      'event-store/index/stream-existence/streamExistenceFilter.dat',
      'event-store/db/chaser.chk',
      'event-store/db/epoch.chk',
      'event-store/db/proposal.chk',
      'event-store/db/truncate.chk',
      'event-store/db/writer.chk',
      'event-store/db/chunk-000000.000001',
      'event-store/db/chunk-000001.000000',
    ]);
  });

  it('come back with the log truncated where the chaser was', async () => {
    await copyNode(node, backup, null, () => undefined);
    const target = { db: join(root, 'new'), index: join(root, 'new', 'index') };
    restoreNode(target, backup);
    expect(readFileSync(join(target.db, 'truncate.chk'))).toEqual(position(500n));
    expect(readFileSync(join(target.db, 'chunk-000000.000001'), 'utf8')).toBe('chunk-000000.000001');
    expect(readdirSync(target.index).toSorted()).toEqual(['5f2c', 'indexmap', 'stream-existence']);
    expect(() => restoreNode(target, backup)).toThrow(/is not empty/);
  });
});

describe('the mirror of keys', () => {
  const NO_KEYS = { keyDirectory: null, secretsFile: null };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mirror-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const [A, B] = ['a', 'b'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [
    string,
    string,
  ];
  const reading = (readingId: string) => ({ readingId, workspaceId: 'ws_1' });

  it.each([
    ['keeps what was erased, also when the log no longer has it', [A], [B], [], [A, B]],
    ['forgets an erasure that only a bad event listed', [A, B], [], [B], [A]],
  ])('A mirror %s', (_, first, second, notErased, wanted) => {
    mirrorKeys(folder, 'here', NO_KEYS, first.map(reading));
    mirrorKeys(folder, 'here', NO_KEYS, second.map(reading), notErased);
    expect(readMirror(folder, 'here').erased.map(({ readingId }) => readingId)).toEqual(wanted);
  });

  describe('The keys in a mirror', () => {
    const ENDED = '20261109T000000Z';
    const CURRENT = '20261116T000000Z';
    let keyDirectory: string;
    beforeEach(() => {
      keyDirectory = mkdtempSync(join(tmpdir(), 'keys-'));
      for (const epoch of [ENDED, CURRENT]) writeFileSync(join(keyDirectory, `${epoch}.key`), 'sealed');
    });
    afterEach(() => rmSync(keyDirectory, { recursive: true, force: true }));

    const mirror = (destroyed: readonly string[] = []) =>
      mirrorKeys(folder, 'here', { keyDirectory, secretsFile: null, destroyed }, []);
    const mirrored = () => readdirSync(join(folder, 'keys')).toSorted();

    it('survive the loss of the folder of keys, and an empty folder in its place', () => {
      mirror();
      rmSync(keyDirectory, { recursive: true });
      mirror();
      expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
      mkdirSync(keyDirectory);
      mirror();
      expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
    });

    it('go when the folder records them as destroyed, or PostgreSQL does and they are gone', () => {
      mirror();
      rmSync(join(keyDirectory, `${ENDED}.key`));
      mirror([ENDED]);
      expect(mirrored()).toEqual([`${CURRENT}.key`]);
      writeFileSync(join(keyDirectory, `${CURRENT}.destroyed`), '');
      mirror([ENDED]);
      expect(mirrored()).toEqual([`${CURRENT}.destroyed`]);
    });

    it('stay while the service has them, though PostgreSQL records them as destroyed; a mark in the folder counts', () => {
      mirror();
      expect(mirror([ENDED])).toEqual([ENDED]);
      expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
      writeFileSync(join(keyDirectory, `${ENDED}.destroyed`), '');
      expect(mirror([ENDED])).toEqual([]);
      expect(mirrored()).toEqual([`${ENDED}.destroyed`, `${CURRENT}.key`]);
    });

    it('never include a draft, which would outlive its key', () => {
      writeFileSync(join(keyDirectory, `${CURRENT}.1.draft`), 'sealed');
      mirror();
      writeFileSync(join(folder, 'keys', `${CURRENT}.key.2.draft`), 'sealed');
      mirror();
      expect(mirrored()).toEqual([`${ENDED}.key`, `${CURRENT}.key`]);
    });
  });
});

describe('the data folder', () => {
  describe('A restore with --replace', () => {
    let parent: string;
    let dataDir: string;
    beforeEach(() => {
      parent = realpathSync(mkdtempSync(join(tmpdir(), 'restore-')));
      dataDir = join(parent, 'data');
      mkdirSync(dataDir);
    });
    afterEach(() => rmSync(parent, { recursive: true }));

    const OTHER = /data has files.*no data folder/;
    it.each([
      ['a data folder', ['secrets.json'], [], /has data.*--replace/],
      ['nothing else', ['package.json'], [expect.stringMatching(OTHER)], OTHER],
    ])('replaces %s, and only if told so: %j', (_, names, replacing, keeping) => {
      for (const name of names) mkdirSync(join(dataDir, name));
      expect(embeddedObstacles(dataDir, true)).toEqual(replacing);
      expect(embeddedObstacles(dataDir, false)).toEqual([expect.stringMatching(keeping)]);
    });

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
});
