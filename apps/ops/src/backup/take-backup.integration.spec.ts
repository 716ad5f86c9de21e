import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { takeBackup, unfinishedBeside, type BackupSources } from './take-backup.js';

let postgres: StartedPostgres;
let folder: string;
let to: string;

beforeAll(async () => {
  postgres = await freshDatabase();
});
afterAll(() => postgres.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'take-backup-'));
  to = join(folder, 'backup');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Takes a backup whose log is a file with this text. @param tablesCopied called before the log is copied */
const take = (text: string, tablesCopied: () => Promise<unknown> = () => Promise.resolve()) => {
  const store = new InMemoryEventStore();
  let copied: Promise<unknown> | undefined;
  store.end = async () => {
    await (copied ??= tablesCopied());
    return null;
  };
  const config = { DATABASE_URL: postgres.ownerUrl, DIGEST_KEY: Buffer.alloc(32, 7).toString('base64') };
  const pool = { query: async () => ({ rows: [] }) };
  const sources = { config, pool, store, keys: { stores: [] } } as unknown as BackupSources;
  return takeBackup(sources, {
    to,
    log: { kind: 'command', command: `echo ${text} > "$BACKUP_DIR/log"` },
    mirror: { to: join(folder, 'erased'), from: null },
  });
};

const logOf = (backup: string): string => readFileSync(join(backup, 'event-store', 'log'), 'utf8');

describe('A backup', () => {
  it('that is taken while another one has the same target is whole, and deletes nothing of the other', async () => {
    let begin = (): void => undefined;
    const firstHasTables = new Promise<void>((resolve) => (begin = resolve));
    let go = (): void => undefined;
    const secondHasTables = new Promise<void>((resolve) => (go = resolve));
    const first = take('first', () => {
      begin();
      return secondHasTables;
    });
    await firstHasTables;
    const second = take('second', async () => {
      go();
      await first;
    });
    await expect(second).rejects.toThrow(`${to} was filled meanwhile, as by another backup`);
    expect(await first).toMatchObject({ eventStore: { files: [{ path: 'event-store/log' }] } });
    expect(logOf(to)).toBe('first\n');
    expect(existsSync(join(to, 'manifest.json'))).toBe(true);
    expect(readdirSync(folder).toSorted()).toEqual(['backup', 'erased']);
  });

  it('takes an empty folder, and leaves what somebody puts there meanwhile', async () => {
    mkdirSync(to);
    await take('one');
    expect(logOf(to)).toBe('one\n');
    rmSync(to, { recursive: true });
    const written = take('two', async () => {
      mkdirSync(to);
      writeFileSync(join(to, 'note'), 'kept');
    });
    await expect(written).rejects.toThrow('was filled meanwhile');
    expect(readdirSync(to)).toEqual(['note']);
  });

  it('names what other runs have not finished, and leaves it', async () => {
    const rest = [`${to}.unfinished`, join(folder, 'earlier.unfinished-a1B2c3')];
    for (const path of rest) mkdirSync(path);
    await take('one');
    expect(unfinishedBeside(to)).toEqual(rest);
  });
});
