import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyNode, restoreNode, type NodeFolders } from './event-store-files.js';

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

  it('are refused where there is no node', async () => {
    const nowhere = { db: join(root, 'elsewhere'), index: join(root, 'elsewhere', 'index') };
    await expect(copyNode(nowhere, backup, null, () => undefined)).rejects.toThrow(/no data folder/);
  });
});
