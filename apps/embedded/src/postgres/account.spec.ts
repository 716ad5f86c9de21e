import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { giveFolder, socketFolder } from './account.js';

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

  it('is refused if replaced by a file, such as a hard link to another user’s file', () => {
    const file = join(place, 'file');
    writeFileSync(file, '');
    linkSync(file, folder);
    expect(() => giveFolder(folder, other)).toThrow(/ENOTDIR/);
    expect(statSync(file)).toMatchObject(own);
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
