import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveFolder, socketFolder, databaseAccount, findBinaries, LOCALE_ARGUMENTS } from './postgres.js';
import { spawnSync } from 'node:child_process';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';

const own = { uid: process.getuid!(), gid: process.getgid!() };
/** Only root can change the owner of a folder. */
const other = own.uid === 0 ? { uid: 12_345, gid: 12_345 } : own;

let place: string;
let folder: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'account-'));
  folder = join(place, 'folder');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe('a folder created for an account', () => {
  it('gets that account as its owner', () => {
    mkdirSync(folder);
    giveFolder(folder, other);
    expect(statSync(folder)).toMatchObject(other);
  });

  it('is refused if replaced by a link, and the link target keeps its owner', () => {
    const target = join(place, 'target');
    mkdirSync(target);
    symlinkSync(target, folder);
    expect(() => giveFolder(folder, other)).toThrow(/ENOTDIR|ELOOP/);
    expect(statSync(target)).toMatchObject(own);
  });

  (own.uid === 0 ? it : it.skip)('is refused if it belongs to another user', () => {
    mkdirSync(folder);
    chownSync(folder, 23_456, 23_456);
    expect(() => giveFolder(folder, other)).toThrow('not a folder of this process');
    expect(statSync(folder)).toMatchObject({ uid: 23_456 });
  });
});

describe('the folder of the database’s socket', () => {
  it('is beside the database, empty after a crash, and closed to others', () => {
    const folder = socketFolder(place, undefined);
    expect(folder).toBe(join(place, 'socket'));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    // Left by a killed server: it names a process id that another program may have now.
    writeFileSync(join(folder, '.s.PGSQL.5432.lock'), '1\n');
    expect(readdirSync(socketFolder(place, undefined))).toEqual([]);
  });

  it('is a new temporary folder if the path would be too long for a socket', () => {
    const deep = join(place, 'a'.repeat(100));
    mkdirSync(deep);
    const folder = socketFolder(deep, undefined);
    expect(folder.startsWith(tmpdir())).toBe(true);
    expect(Buffer.byteLength(`${folder}/.s.PGSQL.5432`)).toBeLessThanOrEqual(103);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(join(deep, 'socket'))).toBe(false);
    rmSync(folder, { recursive: true });
  });
});

const compose = parse(readFileSync(projectPath('docker-compose.yml'), 'utf8'));
const composeArguments: string = compose.services.postgres.environment.POSTGRES_INITDB_ARGS;

it('compose and docs make clusters with the arguments of the embedded stack', () => {
  expect(composeArguments.split(' ')).toEqual(LOCALE_ARGUMENTS);
  expect(readFileSync(projectPath('docs', 'operations.md'), 'utf8')).toContain(LOCALE_ARGUMENTS.join(' '));
});

it.each([
  ['no locale', {}],
  ['the locale of PostgreSQL’s image', { LANG: 'en_US.utf8' }],
])('initdb makes a cluster with compose’s arguments on a machine with %s', (_, env) => {
  const account = databaseAccount();
  const home = mkdtempSync(join(tmpdir(), 'reading-service-initdb-'));
  try {
    if (account) chownSync(home, account.uid, account.gid);
    const { initdb } = findBinaries(home, account);
    const { status, stderr } = spawnSync(
      initdb,
      [`--pgdata=${join(home, 'cluster')}`, '--no-sync', ...composeArguments.split(' ')],
      { ...account, cwd: '/', env, encoding: 'utf8' },
    );
    expect(stderr).not.toContain('initdb: error');
    expect(status).toBe(0);
  } finally {
    rmSync(home, { recursive: true });
  }
});
